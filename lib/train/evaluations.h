// The evaluations of a run: when one is due, and the best so far.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "train/step/evaluation_schedule.h"
#include "train/step/evaluator.h"

namespace odb {

class Evaluations {
 public:
  Evaluations(const EvaluationOptions& options, Evaluator evaluator)
      : options_(options), evaluator_(std::move(evaluator)) {}

  // Whether a step, or the end of an epoch or of the run, that led from `before` to `now` calls for
  // one. Equal on all ranks.
  bool due(const RunTotals& before, const Progress& now) const {
    return evaluation_due(options_, before, now, last_step_);
  }

  // Evaluates all files after the step of `totals`. Collective; see Evaluator::run.
  std::optional<std::vector<EvaluationResult>> run(const RunTotals& totals) {
    auto results = evaluator_.run();
    if (!results) return results;
    best_ = better(best_, {.step = totals.steps, .loss = overall_loss(*results)});
    last_step_ = totals.steps;
    return results;
  }

  const std::optional<BestEvaluation>& best() const { return best_; }

 private:
  EvaluationOptions options_;
  Evaluator evaluator_;
  std::optional<BestEvaluation> best_;
  std::optional<std::int64_t> last_step_;  // of the last evaluation
};

}  // namespace odb
