// An epoch whose batches are all known before it begins. The strategies that know every length
// (sorted, bucket, gmt, bmt, packing) make such plans, each in its own file.
//
// A plan depends on lengths, options, seed and epoch, never on the number of ranks. Ranks share its
// batches by number: rank r of W takes r, r + W, ..., so step mates are neighbors in the plan, the
// counts of any two ranks differ by at most one, and nothing is repeated or dropped to even them
// out (distributed batch samplers usually do one or the other).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/index.h"
#include "batching/group.h"
#include "batching/item.h"
#include "batching/options.h"

namespace odb {

// Lengths of all views, by view. 0: the length pass found nothing to train on; such a view is
// planned as if it had one token and left out when it is drawn.
using LengthTable = std::shared_ptr<const std::vector<std::int32_t>>;

// The size limit of a batch.
struct BatchLimit {
  std::int64_t rows = 0;    // maximum; 0: no limit
  std::int64_t tokens = 0;  // maximum charged positions, but a single row always fits; 0: no limit
  CostModel model;          // how positions are charged

  // Whether a batch with these sums is permitted.
  bool permits(const GroupSums& sums) const {
    return sums.rows <= 1 ||
           ((rows == 0 || sums.rows <= rows) && (tokens == 0 || model.charged(sums) <= tokens));
  }
};

struct BatchRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;  // of EpochPlan::order; begin < end
};

struct EpochPlan {
  LengthTable lengths;
  BatchLimit limit;                 // also for views left over by a change of the number of ranks
  std::vector<ViewId> order;        // every view once, batch after batch
  std::vector<BatchRange> batches;  // in the order in which they are trained

  std::int64_t size() const { return static_cast<std::int64_t>(batches.size()); }
  std::span<const ViewId> batch(std::int64_t number) const {
    const BatchRange& range = at(batches, number);
    return slice(order, range.begin, range.end);
  }
};

// What a plan is made from. `options` are resolved.
struct PlanInput {
  LengthTable lengths;
  BatchingOptions options;
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;
};

// The plan of options.strategy; null for odb and standard, which need no lengths. About 30 bytes a
// view while it runs. UsageError: a missing length table; DataError: a negative length.
std::shared_ptr<const EpochPlan> plan_epoch(const PlanInput& input);

// ---- For the strategies.

BatchLimit fixed_size_limit(const BatchingOptions& resolved);    // --batch-size rows
BatchLimit token_budget_limit(const BatchingOptions& resolved);  // --l-max, by the layout

// The length that `view` is planned with.
std::int32_t planned_length(const EpochPlan& plan, ViewId view);

// All views, shortest or longest first, equal lengths in the epoch's random order. O(n log n).
enum class LengthOrder : std::uint8_t { shortest_first, longest_first };
std::vector<ViewId> views_by_length(const PlanInput& input, LengthOrder direction);

// Cuts order[begin..end) into batches, each as long as the limit permits, and appends them.
void cut_batches(EpochPlan& plan, std::int64_t begin, std::int64_t end);

// Puts the batches into the epoch's random order.
void shuffle_batches(EpochPlan& plan, const PlanInput& input);

}  // namespace odb
