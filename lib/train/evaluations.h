// The evaluations of a run as an observer of its training: when one is due, and the best so far.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>

#include "train/step/evaluation_schedule.h"
#include "train/step/evaluator.h"
#include "train/step/step_observer.h"

namespace odb {

class Evaluations final : public StepObserver {
 public:
  // `observers` follow each evaluation.
  Evaluations(const EvaluationOptions& options, Evaluator evaluator, StepObservers observers);

  // Goes on from a checkpoint: its totals, its best and its last evaluation; `open`: one of that
  // step has not run.
  void resume(const RunTotals& totals, const std::optional<BestEvaluation>& best,
              std::optional<std::int64_t> last_step, bool open);

  // Evaluates if --eval-every or the end of an epoch calls for it. Collective then. PeerLostError.
  bool between_steps(const Progress& progress) override;
  // By the end of the loop: evaluates if the run ended with a step that was not evaluated yet.
  // False: a rank was asked to stop, or failed.
  bool run_if_due(const Progress& progress);
  // Evaluates all files. As above.
  bool run(const RunTotals& totals);

  const std::optional<BestEvaluation>& best() const { return best_; }
  const std::optional<std::int64_t>& last_step() const { return last_step_; }
  // Whether one is due that has not run to its end: a checkpoint of now must say so.
  bool is_open(const Progress& progress) const;
  // What ended an evaluation, equal on all ranks; null: nothing.
  const std::exception_ptr& failure() const { return failure_; }

 private:
  EvaluationOptions options_;
  Evaluator evaluator_;
  StepObservers observers_;
  RunTotals before_;  // at the last boundary between steps
  std::optional<BestEvaluation> best_;
  std::optional<std::int64_t> last_step_;  // of the last evaluation
  bool open_ = false;                      // one has begun, or is to run first, and has not ended
  std::exception_ptr failure_;
};

}  // namespace odb
