// The trainers' groups and their replicas, ranks as threads.
#include "dist/training_groups.h"

#include <atomic>
#include <chrono>
#include <cstdint>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "base/error.h"
#include "catch.h"
#include "dist/peer_loss.h"
#include "dist/replicas.h"
#include "training_ranks.h"

using namespace odb;
using std::chrono::milliseconds;

namespace {

// The sum of 1.0 from every rank, on the training group.
double sum_over_ranks(TrainingGroups& groups) {
  std::vector<torch::Tensor> number{torch::ones({1}, groups.device())};
  as_peer_loss("a sum", [&] { groups.training()->allreduce(number)->wait(); });
  return number[0].item<double>();
}

}  // namespace

TEST_CASE("ranks that never come are named") {
  const Store store = Store::host({"127.0.0.1", 0});
  for (const int missing : {1, 3}) {
    const auto faults = on_ranks(4, [&](int rank) {
      if (rank == missing || rank == 2) return;
      TrainingGroups(store, {.prefix = "run/" + std::to_string(missing) + "/",
                             .rank = rank,
                             .world = 4,
                             .connect_timeout = milliseconds(1500)});
    });
    const std::string expected = missing == 1 ? "ranks 1, 2 of 4 did not" : "ranks 2, 3 of 4 did";
    CHECK_THAT(faults[0], Catch::Contains(expected));
  }
}

TEST_CASE("an impossible backend is refused by its name") {
  const Store store = Store::host({"127.0.0.1", 0});
  CHECK_THROWS_WITH(require_backend(BackendChoice::nccl, torch::kCPU),
                    Catch::Contains("--backend nccl works between GPUs"));
  CHECK_NOTHROW(require_backend(BackendChoice::automatic, torch::kCPU));
  CHECK_THROWS_WITH(TrainingGroups(store, {.prefix = "a/", .backend = BackendChoice::nccl}),
                    Catch::Contains("--backend nccl works between GPUs"));
  CHECK_THROWS_WITH(TrainingGroups(store, {.prefix = "b/", .network = "no-such-interface"}),
                    Catch::Contains("no-such-interface"));
}

TEST_CASE("a rank that comes late to a collective is waited for, beyond any limit of joining") {
  const Store store = Store::host({"127.0.0.1", 0});
  CHECK(on_ranks(2, [&](int rank) {
          TrainingGroups groups(
              store,
              {.prefix = "run/", .rank = rank, .world = 2, .connect_timeout = milliseconds(1500)});
          if (rank == 1) std::this_thread::sleep_for(milliseconds(3000));
          require(sum_over_ranks(groups) == 2, "both");
          if (rank == 0) std::this_thread::sleep_for(milliseconds(3000));
          groups.control()->barrier()->wait();
        }) == no_faults(2));
}

TEST_CASE("a rank that goes away in the middle is a lost peer to all others, who can end") {
  for (const int world : {2, 3, 5}) {
    const Store store = Store::host({"127.0.0.1", 0});
    const auto faults = on_ranks(world, [&](int rank) {
      TrainingGroups groups(store, {.prefix = "run/", .rank = rank, .world = world});
      for (int time = 0; time < 3 || rank != 1; ++time)
        require(sum_over_ranks(groups) == world, "all are there");
    });
    for (int rank = 0; rank < world; ++rank)
      if (rank != 1)
        CHECK_THAT(faults[static_cast<std::size_t>(rank)],
                   Catch::Contains("another rank was lost in a sum"));
  }
}

TEST_CASE("groups end while collectives are under way that nobody will finish") {
  const Store store = Store::host({"127.0.0.1", 0});
  std::atomic<int> ended = 0;
  CHECK(on_ranks(3, [&](int rank) {
          {
            TrainingGroups groups(store, {.prefix = "run/", .rank = rank, .world = 3});
            std::vector<torch::Tensor> large{torch::ones({1 << 20})};
            std::vector<torch::Tensor> small{torch::ones({1})};
            if (rank != 2) {
              groups.training()->allreduce(large);
              groups.training()->allreduce(small);
              groups.control()->allreduce(small);
            }
            while (rank == 2 && ended < 2)  // it neither answers nor ends
              std::this_thread::yield();
          }
          ++ended;
        }) == no_faults(3));
}

TEST_CASE("all ranks get rank 0's values, bit for bit, of any type and layout") {
  CHECK(on_training_ranks(3, [](TrainingGroups& groups) {
          const double rank = groups.rank();
          torch::Tensor whole = torch::full({4, 6}, rank, torch::kDouble);
          const torch::Tensor turned = whole.t();  // not contiguous
          torch::Tensor weights = torch::full({3}, rank, torch::kBFloat16).requires_grad_();
          const torch::Tensor flags = torch::full({2}, groups.rank() == 0, torch::kBool);
          const torch::Tensor one = torch::full({}, std::nan("7"), torch::kFloat);
          const torch::Tensor none = torch::empty({0});
          const torch::Tensor all[] = {turned, weights, flags, one, none};
          broadcast_from_first(groups, all);
          require(whole.abs().max().item<double>() == 0, "through a view");
          require(weights.detach().abs().max().item<float>() == 0, "a leaf");
          require(flags.all().item<bool>(), "flags");
          check_replicas_equal(groups, all, "at the start");
        }) == no_faults(3));
}

TEST_CASE("ranks with one changed bit are named, with the time, on all ranks") {
  for (const bool two : {false, true}) {
    const auto faults = on_training_ranks(4, [&](TrainingGroups& groups) {
      torch::Tensor weights = torch::arange(1000, torch::kFloat);
      const torch::Tensor all[] = {torch::zeros({3}), weights};
      check_replicas_equal(groups, all, "after step 119");
      if (groups.rank() == 2 || (two && groups.rank() == 3))
        static_cast<std::uint32_t*>(weights.data_ptr())[717] ^= 1;
      groups.control()->barrier()->wait();
      check_replicas_equal(groups, all, "after step 120");
    });
    for (const std::string& fault : faults)
      CHECK(fault.starts_with(two ? "after step 120 the weights of ranks 2, 3 differ"
                                  : "after step 120 the weights of rank 2 differ"));
  }
}

TEST_CASE("a fingerprint depends on every bit, on order, and not on the layout in memory") {
  const torch::Tensor a = torch::arange(6, torch::kFloat).reshape({2, 3});
  const torch::Tensor b = torch::ones({2});
  const torch::Tensor turned = a.t().contiguous().t();
  const torch::Tensor ab[] = {a, b}, ba[] = {b, a}, tb[] = {turned, b}, negated[] = {a, -b};
  CHECK(fingerprint(ab) == fingerprint(tb));
  CHECK(fingerprint(ab) != fingerprint(ba));
  CHECK(fingerprint(ab) != fingerprint(negated));
}

TEST_CASE("faults that have nothing to do with peers pass unchanged") {
  CHECK_THROWS_AS(as_peer_loss([]() -> int { throw UsageError("x"); }), UsageError);
  CHECK_THROWS_AS(as_peer_loss([]() -> int { throw std::bad_alloc(); }), std::bad_alloc);
  CHECK_THROWS_AS(as_peer_loss([] { torch::ones({2}) + torch::ones({3}); }), c10::Error);
  CHECK(as_peer_loss("nothing", [] { return 7; }) == 7);
}
