// The plans of the strategies that know every length: small ones worked out by hand, and the
// guarantees of each header on random lengths.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/error.h"
#include "base/permutation.h"
#include "base/rng.h"
#include "batching/strategies/bmt.h"
#include "batching/strategies/epoch_plan.h"
#include "catch.h"

using namespace odb;

namespace {

using Lengths = std::vector<std::int32_t>;
using Batches = std::vector<Lengths>;

LengthTable table(Lengths lengths) {
  return std::make_shared<const Lengths>(std::move(lengths));
}

PlanInput input(Strategy strategy, Layout layout, Lengths lengths) {
  BatchingOptions options;
  options.strategy = strategy;
  options.layout = layout;
  options.l_max = 20;
  options.pad_multiple = 1;
  options.batch_size = 3;
  options.bucket_pool_factor = 2;
  return {.lengths = table(std::move(lengths)),
          .options = resolve(options, Layout::flat),
          .seed = 1,
          .epoch = 0};
}

Batches lengths_of(const EpochPlan& plan) {
  Batches batches;
  for (std::int64_t i = 0; i < plan.size(); ++i) {
    batches.emplace_back();
    for (const ViewId view : plan.batch(i))
      batches.back().push_back(planned_length(plan, view));
  }
  return batches;
}

// Log-normal lengths, some over the budget, some 0.
Lengths random_lengths(std::uint64_t seed, std::int64_t count, double median) {
  Lengths lengths;
  Rng rng(seed, RandomPurpose::tests);
  for (std::int64_t i = 0; i < count; ++i)
    lengths.push_back(
        rng.below(50) == 0 ? 0 : static_cast<std::int32_t>(1 + median * std::exp(rng.normal())));
  return lengths;
}

constexpr Strategy kPlanned[] = {Strategy::sorted, Strategy::bucket, Strategy::gmt, Strategy::bmt,
                                 Strategy::packing};

}  // namespace

TEST_CASE("small plans, batch by batch") {
  struct Case {
    const char* what;
    Strategy strategy;
    Layout layout;
    Lengths lengths;
    Batches batches;  // in order of training for sorted, else as a set
  };
  const Lengths mixed = {5, 9, 2, 7, 4, 10, 1, 3};
  const Case cases[] = {
      {"sorted: three by three, longest first",
       Strategy::sorted,
       Layout::padded,
       mixed,
       {{10, 9, 7}, {5, 4, 3}, {2, 1}}},
      {"gmt padded: the longest row limits the rows",
       Strategy::gmt,
       Layout::padded,
       mixed,
       {{10, 9}, {7, 5}, {4, 3, 2, 1}}},
      {"gmt flat: the sum counts",
       Strategy::gmt,
       Layout::flat,
       mixed,
       {{10, 9}, {7, 5, 4, 3}, {2, 1}}},
      {"gmt: a sample over the budget gets its own batch",
       Strategy::gmt,
       Layout::padded,
       {30, 20, 4, 21},
       {{30}, {21}, {20}, {4}}},
      {"bmt: only lengths of one bucket share a batch",
       Strategy::bmt,
       Layout::padded,
       {12, 13, 3, 3, 3, 20, 21},
       {{20}, {21}, {12}, {13}, {3, 3, 3}}},
      {"packing: exact fits",
       Strategy::packing,
       Layout::flat,
       {12, 10, 10, 8, 6, 6, 4, 4},
       {{12, 8}, {10, 10}, {6, 6, 4, 4}}},
      {"packing: the row with the smallest room left, long samples in their own row",
       Strategy::packing,
       Layout::flat,
       {25, 14, 11, 9, 6, 20},
       {{25}, {20}, {14, 6}, {11, 9}}},
      {"nothing to plan", Strategy::gmt, Layout::padded, {}, {}},
      {"length 0 counts as 1", Strategy::gmt, Layout::flat, {0, 0, 0}, {{1, 1, 1}}},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    Batches found = lengths_of(*plan_epoch(input(c.strategy, c.layout, c.lengths)));
    Batches expected = c.batches;
    if (c.strategy != Strategy::sorted) {
      for (Lengths& batch : found)
        std::sort(batch.begin(), batch.end(), std::greater<>());
      std::sort(found.begin(), found.end());
      std::sort(expected.begin(), expected.end());
    }
    CHECK(found == expected);
  }
}

TEST_CASE("a bucket batch is cut from one sorted pool of the epoch's random order") {
  const PlanInput given = input(Strategy::bucket, Layout::padded, random_lengths(3, 100, 8));
  const auto plan = plan_epoch(given);
  const Permutation order(100, given.seed, given.epoch);
  CHECK(plan->size() == 34);  // 16 pools of 6, each 2 batches, and one of 4: 2 batches
  std::set<std::int64_t> pools;
  for (std::int64_t i = 0; i < plan->size(); ++i) {
    const auto batch = plan->batch(i);
    const std::int64_t pool = order.inverse(batch.front()) / 6;
    pools.insert(pool);
    for (std::size_t row = 0; row < batch.size(); ++row) {
      CHECK(order.inverse(batch[row]) / 6 == pool);
      if (row > 0)
        CHECK(planned_length(*plan, batch[row - 1]) <= planned_length(*plan, batch[row]));
    }
  }
  CHECK(pools.size() == 17);
}

TEST_CASE("every plan holds every view once, within its limits, and follows seed and epoch") {
  for (const Strategy strategy : kPlanned)
    for (const Layout layout : {Layout::padded, Layout::flat})
      for (const std::int64_t count : {1, 2, 7, 1000}) {
        if (strategy == Strategy::packing && layout == Layout::padded) continue;
        INFO(name(strategy) << " " << name(layout) << ", " << count << " views");
        PlanInput given = input(strategy, layout, random_lengths(7, count, 5));
        const auto plan = plan_epoch(given);
        std::set<ViewId> seen;
        for (std::int64_t i = 0; i < plan->size(); ++i) {
          REQUIRE_FALSE(plan->batch(i).empty());
          GroupSums sums;
          for (const ViewId view : plan->batch(i)) {
            REQUIRE(seen.insert(view).second);
            sums.add({.view = view, .length = planned_length(*plan, view), .supervised = 0});
          }
          if (strategy == Strategy::sorted || strategy == Strategy::bucket)
            REQUIRE(sums.rows <= 3);
          else
            REQUIRE((sums.rows == 1 || cost_model(given.options).charged(sums) <= 20));
        }
        CHECK(static_cast<std::int64_t>(seen.size()) == count);
        CHECK(*seen.rbegin() == count - 1);
        const auto again = plan_epoch(given);
        CHECK(again->order == plan->order);
        CHECK(lengths_of(*again) == lengths_of(*plan));
        if (count < 1000) continue;
        given.epoch = 1;
        const auto next = plan_epoch(given);
        CHECK(next->order != plan->order);
        if (strategy != Strategy::sorted) CHECK(lengths_of(*next) != lengths_of(*plan));
      }
}

TEST_CASE("gmt padded has no more batches than any cut of the sorted lengths") {
  // The minimum number of batches by dynamic programming: some best partition is a cut of the
  // order.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Lengths lengths = random_lengths(seed, 60, 4);
    const auto plan = plan_epoch(input(Strategy::gmt, Layout::padded, lengths));
    for (std::int32_t& length : lengths)
      length = std::max(1, length);
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    std::vector<std::int64_t> minimum(lengths.size() + 1);
    for (std::size_t begin = lengths.size(); begin-- > 0;) {
      minimum[begin] = 1 + minimum[begin + 1];
      for (std::size_t end = begin + 2;
           end <= lengths.size() && static_cast<std::int64_t>(end - begin) * lengths[begin] <= 20;
           ++end)
        minimum[begin] = std::min(minimum[begin], 1 + minimum[end]);
    }
    INFO("seed " << seed);
    CHECK(plan->size() == minimum[0]);
  }
}

TEST_CASE("packing leaves no row that fits into another, and is near the minimum of rows") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    INFO("seed " << seed);
    const auto plan =
        plan_epoch(input(Strategy::packing, Layout::flat, random_lengths(seed, 500, 4)));
    std::int64_t tokens = 0;
    std::vector<std::int64_t> rows;
    for (const Lengths& batch : lengths_of(*plan)) {
      std::int64_t row = 0;
      for (const std::int32_t length : batch)
        row += length;
      if (row > 20) continue;  // a single sample
      rows.push_back(row);
      tokens += row;
    }
    std::sort(rows.begin(), rows.end());
    REQUIRE(rows.size() >= 2);
    CHECK(rows[0] + rows[1] > 20);
    const double least = std::ceil(static_cast<double>(tokens) / 20);
    CHECK(static_cast<double>(rows.size()) <= 11 * least / 9 + 4);
  }
}

TEST_CASE("bucket bounds grow by a tenth, at least by one token") {
  CHECK(bucket_bounds(1) == std::vector<std::int64_t>{1});
  CHECK(bucket_bounds(20) ==
        std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 21});
  const auto bounds = bucket_bounds(1 << 30);
  CHECK(bounds.back() >= 1 << 30);
  CHECK(bounds.size() < 250);
}

TEST_CASE("plans that cannot be made are refused") {
  PlanInput missing = input(Strategy::gmt, Layout::padded, {});
  missing.lengths = nullptr;
  CHECK_THROWS_AS(plan_epoch(missing), UsageError);
  CHECK_THROWS_AS(plan_epoch(input(Strategy::gmt, Layout::padded, {3, -1})), DataError);
  CHECK_THROWS_AS(plan_epoch(input(Strategy::packing, Layout::padded, {3})), UsageError);
  PlanInput huge = input(Strategy::packing, Layout::flat, {3});
  huge.options.l_max = (1 << 24) + 1;
  CHECK_THROWS_AS(plan_epoch(huge), UsageError);
  CHECK(plan_epoch(input(Strategy::odb, Layout::flat, {})) == nullptr);
  CHECK(plan_epoch(input(Strategy::standard, Layout::flat, {})) == nullptr);
}
