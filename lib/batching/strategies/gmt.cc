#include "batching/strategies/gmt.h"

namespace odb {

EpochPlan plan_gmt(const PlanInput& input) {
  EpochPlan plan{.lengths = input.lengths,
                 .limit = token_budget_limit(input.options),
                 .order = views_by_length(input, LengthOrder::longest_first),
                 .batches = {}};
  cut_batches(plan, 0, static_cast<std::int64_t>(plan.order.size()));
  shuffle_batches(plan, input);
  return plan;
}

}  // namespace odb
