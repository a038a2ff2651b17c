// When a run evaluates, and which evaluation was the best. Pure and equal on all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/amount.h"
#include "base/options/table.h"
#include "train/step/progress.h"

namespace odb {

// Group "evaluation".
struct EvaluationOptions {
  std::vector<std::string> eval_data;
  std::optional<Amount> eval_every;  // none: at each epoch's end
  bool eval_at_start = false;
};
void describe(OptionTable& table, EvaluationOptions& options);

struct BestEvaluation {
  std::int64_t step = 0;
  double loss = 0;  // mean over supervised tokens
  friend bool operator==(const BestEvaluation&, const BestEvaluation&) = default;
};

// Whether `period` (not one in seconds) was crossed from `before` to `after`; none: never.
bool is_due(const std::optional<Amount>& period, const RunTotals& before, const RunTotals& after,
            std::int64_t data_size);

// Whether to evaluate now: a period given by --eval-every was crossed or, without one, an epoch
// ended. Also at the end of the run, unless the last evaluation had the same totals.
bool evaluation_due(const EvaluationOptions& options, const RunTotals& before,
                    const Progress& after, std::optional<std::int64_t> last_evaluated_step);

// The better of the two: the lower loss, the earlier one if equal. A loss that is not finite is
// never the best.
std::optional<BestEvaluation> better(const std::optional<BestEvaluation>& best,
                                     const BestEvaluation& now);

}  // namespace odb
