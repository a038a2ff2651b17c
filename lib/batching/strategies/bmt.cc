#include "batching/strategies/bmt.h"

#include <algorithm>

#include "base/index.h"
#include "base/permutation.h"

namespace odb {

std::vector<std::int64_t> bucket_bounds(std::int64_t longest) {
  constexpr std::int64_t kGrowth = 10;  // a tenth
  std::vector<std::int64_t> bounds{1};
  while (bounds.back() < longest)
    bounds.push_back(bounds.back() + (bounds.back() + kGrowth - 1) / kGrowth);
  return bounds;
}

EpochPlan plan_bmt(const PlanInput& input) {
  EpochPlan plan{.lengths = input.lengths,
                 .limit = token_budget_limit(input.options),
                 .order = {},
                 .batches = {}};
  const std::vector<std::int32_t>& lengths = *input.lengths;
  const std::int64_t longest =
      lengths.empty() ? 1 : *std::max_element(lengths.begin(), lengths.end());
  const std::vector<std::int64_t> bounds = bucket_bounds(longest);
  const auto bucket_of = [&](ViewId view) {
    return static_cast<std::size_t>(
        std::lower_bound(bounds.begin(), bounds.end(), planned_length(plan, view)) -
        bounds.begin());
  };

  std::vector<std::int64_t> next(bounds.size() + 1);  // where each bucket's next view goes
  const auto size = static_cast<std::int64_t>(lengths.size());
  for (ViewId view = 0; view < size; ++view)
    ++next[bucket_of(view) + 1];
  for (std::size_t bucket = 1; bucket < next.size(); ++bucket)
    next[bucket] += next[bucket - 1];
  const std::vector<std::int64_t> begins = next;
  const Permutation epoch_order(size, input.seed, input.epoch);
  plan.order.resize(lengths.size());
  for (std::int64_t position = 0; position < size; ++position) {
    const ViewId view = epoch_order(position);
    at(plan.order, next[bucket_of(view)]++) = view;
  }
  for (std::size_t bucket = 0; bucket < bounds.size(); ++bucket)
    cut_batches(plan, begins[bucket], begins[bucket + 1]);
  shuffle_batches(plan, input);
  return plan;
}

}  // namespace odb
