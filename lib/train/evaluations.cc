#include "train/evaluations.h"

#include <utility>

#include "base/error.h"

namespace odb {

Evaluations::Evaluations(const EvaluationOptions& options, Evaluator evaluator,
                         StepObservers observers)
    : options_(options), evaluator_(std::move(evaluator)), observers_(std::move(observers)) {}

bool Evaluations::between_steps(const Progress& progress) {
  const bool go_on = run_if_due(progress);
  before_ = progress.totals();
  return go_on;
}

bool Evaluations::run_if_due(const Progress& progress) {
  return !evaluation_due(options_, before_, progress, last_step_) || run(progress.totals());
}

bool Evaluations::run(const RunTotals& totals) {
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
  for (StepObserver* observer : observers_)
    observer->end_evaluation(*results, totals);
  return true;
}

}  // namespace odb
