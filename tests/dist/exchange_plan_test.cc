#include "dist/exchange_plan.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

using Plans = std::vector<std::vector<Exchange>>;

// Runs all plans in one thread. Element r of the result: what rank r has at the end when it starts
// with 2^r, so that the sum over all ranks has one bit for each.
std::vector<std::int64_t> carry_out(const Plans& plans) {
  std::vector<std::int64_t> values(plans.size());
  for (std::size_t rank = 0; rank < values.size(); ++rank)
    values[rank] = std::int64_t{1} << rank;
  std::vector<std::size_t> at(plans.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      if (at[rank] == plans[rank].size()) continue;
      const Exchange mine = plans[rank][at[rank]];
      const auto peer = static_cast<std::size_t>(mine.peer);
      if (at[peer] == plans[peer].size()) continue;
      const Exchange other = plans[peer][at[peer]];
      if (other.peer != static_cast<int>(rank)) continue;
      if (mine.kind == ExchangeKind::swap && other.kind == ExchangeKind::swap) {
        values[rank] = values[peer] = values[rank] + values[peer];
      } else if (mine.kind == ExchangeKind::give && other.kind == ExchangeKind::take) {
        values[peer] += values[rank];
      } else if (mine.kind == ExchangeKind::give && other.kind == ExchangeKind::replace) {
        values[peer] = values[rank];
      } else {
        continue;
      }
      ++at[rank];
      ++at[peer];
      moved = true;
    }
  }
  for (std::size_t rank = 0; rank < plans.size(); ++rank)
    if (at[rank] != plans[rank].size()) values[rank] = -1;  // waits for ever
  return values;
}

Plans plans_of(int world) {
  Plans plans;
  for (int rank = 0; rank < world; ++rank)
    plans.push_back(exchange_plan(rank, world));
  return plans;
}

}  // namespace

TEST_CASE("four ranks exchange along two bits") {
  CHECK(exchange_plan(0, 1).empty());
  CHECK(exchange_plan(2, 4) ==
        std::vector<Exchange>{{ExchangeKind::swap, 3}, {ExchangeKind::swap, 0}});
}

TEST_CASE("ranks beyond a power of two go through a partner") {
  CHECK(exchange_plan(4, 5) ==
        std::vector<Exchange>{{ExchangeKind::give, 0}, {ExchangeKind::replace, 0}});
  CHECK(exchange_plan(0, 5) == std::vector<Exchange>{{ExchangeKind::take, 4},
                                                     {ExchangeKind::swap, 1},
                                                     {ExchangeKind::swap, 2},
                                                     {ExchangeKind::give, 4}});
  CHECK(exchange_plan(3, 5) ==
        std::vector<Exchange>{{ExchangeKind::swap, 2}, {ExchangeKind::swap, 1}});
}

TEST_CASE("every rank ends with every rank's numbers, each once, and none waits for ever") {
  for (int world = 1; world <= 40; ++world) {
    INFO(world << " ranks");
    const std::int64_t all = (std::int64_t{1} << world) - 1;
    CHECK(carry_out(plans_of(world)) ==
          std::vector<std::int64_t>(static_cast<std::size_t>(world), all));
  }
}

TEST_CASE("the number of exchanges grows with the logarithm of the number of ranks") {
  const auto most = [](int world) {
    std::size_t longest = 0;
    for (const auto& plan : plans_of(world))
      longest = std::max(longest, plan.size());
    return longest;
  };
  CHECK(most(2) == 1);
  CHECK(most(16) == 4);
  CHECK(most(17) == 6);
  CHECK(most(4096) == 12);
  CHECK(most(4097) == 14);
}

TEST_CASE("a rank outside the world breaks an invariant") {
  CHECK_THROWS_AS(exchange_plan(4, 4), InternalError);
  CHECK_THROWS_AS(exchange_plan(-1, 4), InternalError);
}
