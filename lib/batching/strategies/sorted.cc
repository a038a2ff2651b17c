#include "batching/strategies/sorted.h"

namespace odb {

EpochPlan plan_sorted(const PlanInput& input) {
  EpochPlan plan{.lengths = input.lengths,
                 .limit = fixed_size_limit(input.options),
                 .order = views_by_length(input, LengthOrder::longest_first),
                 .batches = {}};
  cut_batches(plan, 0, static_cast<std::int64_t>(plan.order.size()));
  return plan;
}

}  // namespace odb
