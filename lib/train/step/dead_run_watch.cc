#include "train/step/dead_run_watch.h"

#include <cmath>

#include <fmt/format.h>

namespace odb {

void DeadRunWatch::on_measured(const StepMeasure& measure, const Progress& progress) {
  // Skipped steps have their own warning, and steps without a supervised token have no loss.
  if (measure.count.skipped || measure.count.supervised_tokens == 0) return;
  const std::int64_t step = progress.totals().steps;
  check_gradient(measure, step);
  check_loss(measure, step);
}

void DeadRunWatch::check_gradient(const StepMeasure& measure, std::int64_t step) {
  zero_steps_ = measure.grad_norm == 0 ? zero_steps_ + 1 : 0;
  if (warned_of_gradient_ || zero_steps_ < kDeadSteps) return;
  warned_of_gradient_ = true;
  warn_(fmt::format(
      "step {}: the gradient's norm has been 0 for {} steps, so nothing is learned (loss {:.4g}); "
      "a model whose weights are 0 or that has collapsed does this: see odb-trainer inspect data, "
      "and start again from a sound --model, with a lower --lr",
      step, zero_steps_, measure.loss));
}

void DeadRunWatch::check_loss(const StepMeasure& measure, std::int64_t step) {
  if (!std::isfinite(measure.loss) || measure.loss <= 0) return;
  if (!first_loss_) first_loss_ = measure.loss;
  if (warned_of_loss_ || measure.loss < kLossGrowth * *first_loss_) return;
  warned_of_loss_ = true;
  warn_(fmt::format(
      "step {}: the loss is {:.4g}, {:.0f} times the {:.4g} of the first step: the run diverges; "
      "stop it and try a lower --lr, a longer --warmup, or a lower --max-grad-norm",
      step, measure.loss, measure.loss / *first_loss_, *first_loss_));
}

}  // namespace odb
