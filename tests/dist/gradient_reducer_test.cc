// Gradients averaged over ranks, against one process that sees all samples.
#include "dist/gradient_reducer.h"

#include <algorithm>

#include <torch/cuda.h>

#include "base/error.h"
#include "catch.h"
#include "training_ranks.h"

using namespace odb;

namespace {

using Gradients = std::vector<std::vector<torch::Tensor>>;

double largest_difference(const Gradients& a, const Gradients& b) {
  require(a.size() == b.size(), "as many steps");
  double largest = 0;
  for (std::size_t step = 0; step < a.size(); ++step)
    for (std::size_t i = 0; i < a[step].size(); ++i)
      largest = std::max(largest, (a[step][i] - b[step][i]).abs().max().item<double>());
  return largest;
}

bool bit_equal(const Gradients& a, const Gradients& b) {
  bool equal = a.size() == b.size();
  for (std::size_t step = 0; equal && step < a.size(); ++step)
    for (std::size_t i = 0; equal && i < a[step].size(); ++i)
      equal = a[step][i].equal(b[step][i]);
  return equal;
}

// One rank's gradients of each step, all ranks' being the same.
Gradients train(int world, const StepPlan& plan, std::size_t begin = 0,
                torch::DeviceType device = torch::kCPU) {
  std::vector<Gradients> of_rank(static_cast<std::size_t>(world));
  CHECK(on_training_ranks(
            world,
            [&](TrainingGroups& groups) {
              of_rank[static_cast<std::size_t>(groups.rank())] =
                  rank_gradients(groups, plan, begin);
            },
            device) == no_faults(world));
  for (const Gradients& gradients : of_rank)
    CHECK(bit_equal(gradients, of_rank.front()));
  return of_rank.front();
}

void check_against_one_process(int world, torch::DeviceType device) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    INFO(world << " ranks, seed " << seed);
    const StepPlan plan = random_plan(seed, world, 12);
    CHECK(largest_difference(train(world, plan, 0, device), reference_gradients(plan)) < 1e-12);
  }
}

}  // namespace

TEST_CASE("averaged gradients are those of one process over the same samples") {
  for (const int world : {1, 2, 3, 4})
    check_against_one_process(world, torch::kCPU);
}

TEST_CASE("averaged gradients on GPUs are those of one process over the same samples") {
  if (!torch::cuda::is_available()) {
    WARN("skipped: no GPU here");
    return;
  }
  const auto gpus = static_cast<int>(torch::cuda::device_count());
  for (int world = 1; world <= std::min(gpus, 4); ++world)
    check_against_one_process(world, torch::kCUDA);
}

TEST_CASE("a rank whose every slot is idle takes part, also when all ranks are idle") {
  const StepPlan plan = random_plan(7, 3, 8, 1);
  CHECK(largest_difference(train(3, plan), reference_gradients(plan)) < 1e-12);
  StepPlan all_idle = random_plan(8, 3, 3);
  for (auto& micro_step : all_idle[1])
    for (MicroStep& one : micro_step)
      one.rows = 0;
  const Gradients gradients = train(3, all_idle);
  CHECK(gradients[1][0].abs().max().item<double>() == 0);
  CHECK(largest_difference(gradients, reference_gradients(all_idle)) < 1e-12);
}

TEST_CASE("a parameter that no rank uses keeps a zero gradient, and others are still averaged") {
  StepPlan plan = random_plan(9, 3, 6);
  for (auto& step : plan)
    for (auto& micro_step : step)
      for (MicroStep& one : micro_step)
        one.with_side = false;
  const Gradients gradients = train(3, plan);
  CHECK(largest_difference(gradients, reference_gradients(plan)) < 1e-12);
  CHECK(gradients[5][1].abs().max().item<double>() == 0);
}

TEST_CASE("two runs give equal bits, and so does one that starts again in the middle") {
  for (const int world : {2, 3}) {
    const StepPlan plan = random_plan(21, world, 10);
    const Gradients whole = train(world, plan);
    CHECK(bit_equal(train(world, plan), whole));
    CHECK(bit_equal(train(world, plan, 4), Gradients(whole.begin() + 4, whole.end())));
  }
}

TEST_CASE("gradients are views of a few buckets, which stay in place") {
  CHECK(on_training_ranks(2, [](TrainingGroups& groups) {
          SmallNet net(torch::kCPU);
          GradientReducer reducer(groups, net.parameters());
          const void* const storage = net.first.grad().storage().data();
          require(net.second.grad().storage().data() == storage, "one bucket");
          require(net.side.grad().abs().max().item<double>() == 0, "zero at first");
          const MicroStep one{.rows = 2, .seed = 5};
          for (int step = 0; step < 3; ++step) {
            const torch::Tensor loss = net.loss(inputs_of(one, torch::kCPU), step != 1);
            reducer.prepare(loss);
            loss.backward();
            require(net.first.grad().storage().data() == storage, "in place");
            reducer.zero_gradients();
            require(net.first.grad().abs().max().item<double>() == 0, "zeroed");
          }
        }) == no_faults(2));
}

TEST_CASE("a new reducer on the same parameters and groups replaces an old one") {
  const StepPlan plan = random_plan(22, 3, 4);
  CHECK(on_training_ranks(3, [&](TrainingGroups& groups) {
          const Gradients first = rank_gradients(groups, plan);
          require(bit_equal(rank_gradients(groups, plan), first), "the same bits");
        }) == no_faults(3));
}

TEST_CASE("what cannot be averaged is refused") {
  CHECK(on_training_ranks(1, [](TrainingGroups& groups) {
          const torch::Tensor frozen = torch::zeros({2});
          CHECK_THROWS_AS(GradientReducer(groups, {frozen}), InternalError);
          CHECK_THROWS_AS(GradientReducer(groups, {}), InternalError);
          SmallNet net(torch::kCPU);
          GradientReducer reducer(groups, net.parameters());
          CHECK_THROWS_AS(reducer.prepare(torch::zeros({})), InternalError);
        }) == no_faults(1));
}
