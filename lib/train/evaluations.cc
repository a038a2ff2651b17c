#include "train/evaluations.h"

#include <utility>

#include "base/error.h"

namespace odb {

Evaluations::Evaluations(const EvaluationOptions& options, Evaluator evaluator,
                         StepObservers observers)
    : options_(options), evaluator_(std::move(evaluator)), observers_(std::move(observers)) {}

void Evaluations::resume(const RunTotals& totals, const std::optional<BestEvaluation>& best,
                         std::optional<std::int64_t> last_step, bool open) {
  before_ = totals;
  best_ = best;
  last_step_ = last_step;
  open_ = open;
}

bool Evaluations::is_open(const Progress& progress) const {
  return open_ || evaluation_due(options_, before_, progress, last_step_);
}

bool Evaluations::between_steps(const Progress& progress) {
  const bool go_on = run_if_due(progress);
  before_ = progress.totals();
  return go_on;
}

bool Evaluations::run_if_due(const Progress& progress) {
  return !evaluation_due(options_, before_, progress, last_step_) || run(progress.totals());
}

bool Evaluations::run(const RunTotals& totals) {
  open_ = true;
  for (StepObserver* observer : observers_)
    observer->begin_evaluation(totals);
  std::optional<std::vector<EvaluationResult>> results;
  try {
    results = evaluator_.run();
  } catch (const PeerLostError&) {
    throw;
  } catch (const Error&) {
    failure_ = std::current_exception();
  }
  if (!results) return false;
  best_ = better(best_, {.step = totals.steps, .loss = overall_loss(*results)});
  last_step_ = totals.steps;
  open_ = false;
  for (StepObserver* observer : observers_)
    observer->end_evaluation(*results, totals);
  return true;
}

}  // namespace odb
