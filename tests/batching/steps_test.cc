// Where steps end, and the weight of a token's loss.
#include "base/error.h"
#include "batching/loss_weights.h"
#include "batching/step_bounds.h"
#include "catch.h"

using namespace odb;

namespace {

std::vector<bool> ends(const BatchingOptions& o, const std::vector<SlotTotals>& slots) {
  std::vector<bool> result;
  result.reserve(slots.size());
  OpenStep step;
  for (const SlotTotals& totals : slots)
    result.push_back(count_slot(o, totals, step));
  return result;
}

}  // namespace

TEST_CASE("a step ends after a given number of micro-steps, tokens or samples") {
  const std::vector<SlotTotals> slots = {
      {1, 10, 2, 1}, {1, 10, 2, 1}, {1, 15, 1, 1}, {1, 40, 3, 1}, {1, 5, 1, 1}};
  BatchingOptions o;
  CHECK(ends(resolve(o, Layout::flat), slots) == std::vector<bool>{true, true, true, true, true});
  o.accumulate = 2;
  CHECK(ends(resolve(o, Layout::flat), slots) ==
        std::vector<bool>{false, true, false, true, false});
  o.accumulate.reset();
  o.global_batch_tokens = 20;
  CHECK(ends(resolve(o, Layout::flat), slots) ==
        std::vector<bool>{false, true, false, true, false});
  o.global_batch_tokens.reset();
  o.global_batch_samples = 5;
  CHECK(ends(resolve(o, Layout::flat), slots) ==
        std::vector<bool>{false, false, true, false, false});
}

TEST_CASE("an open step counts its content, a closed one is empty") {
  BatchingOptions o;
  o.accumulate = 3;
  o = resolve(o, Layout::flat);
  OpenStep step;
  CHECK_FALSE(step.open());
  CHECK_FALSE(count_slot(o, {4, 10, 2, 1}, step));
  CHECK_FALSE(count_slot(o, {4, 11, 3, 1}, step));
  CHECK(step == OpenStep{2, 21, 5});
  CHECK(step.open());
  CHECK(count_slot(o, {4, 1, 1, 1}, step));
  CHECK(step == OpenStep{});
}

TEST_CASE("accumulation keeps the groups of a step when the number of ranks changes") {
  CHECK(accumulate_on_other_world(4, 8, 16, 1000) == 2);
  CHECK(accumulate_on_other_world(1, 8, 2, 1000) == 4);
  CHECK(accumulate_on_other_world(3, 4, 4, 1000) == 3);
  CHECK_THROWS_WITH(accumulate_on_other_world(1, 8, 6, 65000),
                    Catch::Contains("--accumulate 1 on 8 ranks") &&
                        Catch::Contains("--global-batch-tokens 65000"));
  CHECK_THROWS_AS(accumulate_on_other_world(1, 2, 4, 10), UsageError);
}

// With the weights, the all-reduced gradient must be that of the defined mean. Two ranks, two
// micro-steps; rows are (supervised tokens, loss of each of its tokens).
TEST_CASE("weighted sums over ranks and micro-steps are the defined means") {
  struct Row {
    std::int64_t supervised;
    double loss;
  };
  const std::vector<std::vector<Row>> groups = {{{2, 1.0}, {3, 2.0}}, {{5, 4.0}}, {{1, 8.0}}, {}};
  SlotTotals step;
  for (const auto& group : groups) {
    SlotTotals own;
    for (const Row& row : group) {
      own.supervised += row.supervised;
      ++own.samples;
    }
    own.supervised_groups = group.empty() ? 0 : 1;
    step.add(own);
  }
  const auto mean = [&](LossNorm norm) {
    double sum = 0;
    for (const auto& group : groups) {
      std::int64_t supervised = 0;
      for (const Row& row : group)
        supervised += row.supervised;
      for (const Row& row : group)
        sum += static_cast<double>(row.supervised) * row.loss *
               token_weight(norm, row.supervised, supervised);
    }
    const int world = 2;
    return sum / world * gradient_scale(norm, step, world);  // averaged by the all-reduce
  };
  CHECK(mean(LossNorm::token) == Approx((2 * 1.0 + 3 * 2.0 + 5 * 4.0 + 8.0) / 11));
  CHECK(mean(LossNorm::sample) == Approx((1.0 + 2.0 + 4.0 + 8.0) / 4));
  CHECK(mean(LossNorm::rank_mean) == Approx(((2 * 1.0 + 3 * 2.0) / 5 + 4.0 + 8.0) / 3));
}

TEST_CASE("a step with nothing to learn from has no scale, and empty rows no weight") {
  for (const LossNorm norm : {LossNorm::token, LossNorm::sample, LossNorm::rank_mean})
    CHECK(gradient_scale(norm, {}, 4) == 0);
  CHECK_THROWS_AS(token_weight(LossNorm::token, 0, 5), InternalError);
  CHECK_THROWS_AS(token_weight(LossNorm::sample, 6, 5), InternalError);
}
