// When a run evaluates, and which evaluation was the best. Pure and equal on all ranks.
#pragma once

#include <optional>

#include "train/progress.h"
#include "train/run_state.h"
#include "train/train_options.h"

namespace odb {

// Whether `period` (not one in seconds) was crossed from `before` to `after`; none: never.
bool is_due(const std::optional<Amount>& period, const RunTotals& before, const RunTotals& after,
            std::int64_t data_size);

// Whether an evaluation follows: a period given by --eval-every was crossed; without one, an epoch
// ended; at the end of the run in any case, unless the totals are those of the last evaluation.
bool evaluation_due(const EvaluationOptions& options, const RunTotals& before,
                    const Progress& after, std::optional<std::int64_t> last_evaluated_step);

// The better of both: the lower loss, the earlier one when equal. A loss that is not finite is
// never the best.
std::optional<BestEvaluation> better(const std::optional<BestEvaluation>& best,
                                     const BestEvaluation& now);

}  // namespace odb
