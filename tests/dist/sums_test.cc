// Numbers over the ranks, ranks as threads.
#include "dist/sums.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "catch.h"
#include "dist/control.h"
#include "training_ranks.h"

using namespace odb;

namespace {

std::vector<std::uint64_t> bits_of(const std::vector<double>& values) {
  std::vector<std::uint64_t> bits;
  for (const double value : values)
    bits.push_back(std::bit_cast<std::uint64_t>(value));
  return bits;
}

}  // namespace

TEST_CASE("all ranks get rank 0's numbers, bit for bit") {
  const std::vector<double> given = {
      0.1, -0.0, std::nan("7"), std::numeric_limits<double>::infinity(), 5e-324, 1.0 + 1e-16};
  for (const int world : {1, 2, 3, 5, 8}) {
    INFO(world << " ranks");
    CHECK(on_training_ranks(world, [&](TrainingGroups& groups) {
            const std::vector<double> own(given.size(), 100.0 + groups.rank());
            for (int time = 0; time < 20; ++time) {
              const auto found = values_of_rank_0(groups, groups.rank() == 0 ? given : own);
              require(bits_of(found) == bits_of(given), "rank 0's bits");
            }
          }) == no_faults(world));
  }
}

TEST_CASE("rank 0's numbers come while a vote is under way, whoever votes late") {
  CHECK(on_training_ranks(3, [](TrainingGroups& groups) {
          GroupControl control(groups);
          for (int slot = 0; slot < 30; ++slot) {
            const bool late = slot % 3 == groups.rank();
            if (!late) control.begin({.loss_sum = 1});
            require(values_of_rank_0(groups, {1.0 * slot + groups.rank()})[0] == slot, "rank 0's");
            if (late) control.begin({.loss_sum = 1});
            require(control.await().loss_sum == 3, "sum");
          }
        }) == no_faults(3));
}

TEST_CASE("rank 0 that goes away before it has handed out its numbers is a lost peer to all") {
  const Store store = Store::host({"127.0.0.1", 0});
  const auto faults = on_ranks(4, [&](int rank) {
    TrainingGroups groups(store, {.prefix = "run/", .rank = rank, .world = 4});
    for (int time = 0; time < 3 || rank != 0; ++time)
      values_of_rank_0(groups, {1, 2});
  });
  CHECK(faults[0].empty());
  for (const int rank : {1, 2, 3})
    CHECK_THAT(faults[static_cast<std::size_t>(rank)],
               Catch::Contains("another rank was lost in handing out rank 0's numbers"));
}
