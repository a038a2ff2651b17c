#include "batching/strategies/bucket.h"

#include <algorithm>

#include "base/index.h"
#include "base/permutation.h"

namespace odb {

EpochPlan plan_bucket(const PlanInput& input) {
  EpochPlan plan{.lengths = input.lengths,
                 .limit = fixed_size_limit(input.options),
                 .order = {},
                 .batches = {}};
  const auto size = static_cast<std::int64_t>(input.lengths->size());
  const Permutation epoch_order(size, input.seed, input.epoch);
  plan.order.resize(input.lengths->size());
  for (std::int64_t position = 0; position < size; ++position)
    at(plan.order, position) = epoch_order(position);

  const std::int64_t pool = input.options.bucket_pool_factor * input.options.batch_size;
  for (std::int64_t begin = 0; begin < size; begin += pool) {
    const std::int64_t end = std::min(begin + pool, size);
    std::stable_sort(plan.order.begin() + begin, plan.order.begin() + end, [&](ViewId a, ViewId b) {
      return planned_length(plan, a) < planned_length(plan, b);
    });
    cut_batches(plan, begin, end);
  }
  shuffle_batches(plan, input);
  return plan;
}

}  // namespace odb
