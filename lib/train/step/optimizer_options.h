// Group "optimizer": how a step's gradient becomes an update, and what happens to one that is not
// finite. Rules over several options are checked by the table: a UsageError names the options, what
// was found and what to do.
#pragma once

#include <cstdint>
#include <optional>

#include "base/options/table.h"
#include "train/step/run_part.h"

namespace odb {

enum class OptimizerKind { adamw, sgd };
enum class LearningRateSchedule {
  cosine,
  constant,
  linear,
  cosine_with_min,
  warmup_stable_decay,
  inverse_sqrt,
  polynomial
};
enum class OnNan { stop, skip };

const char* name(OptimizerKind value);
const char* name(LearningRateSchedule value);
const char* name(OnNan value);

struct OptimizerOptions {
  OptimizerKind optimizer = OptimizerKind::adamw;
  double lr = 1e-5;  // peak of the schedule
  LearningRateSchedule lr_schedule = LearningRateSchedule::cosine;
  RunPart warmup{.share = 0.03, .amount = {}};
  // Only for the schedules that have them (defaults: schedule_shape).
  std::optional<double> min_lr_ratio;      // lowest rate / lr
  std::optional<RunPart> decay;            // the last part of warmup-stable-decay
  std::optional<double> polynomial_power;  // of polynomial
  double weight_decay = 0;
  // Only for the optimizer that has them: refused for the other one.
  std::optional<double> adam_beta1;
  std::optional<double> adam_beta2;
  std::optional<double> adam_epsilon;
  std::optional<double> sgd_momentum;
  double max_grad_norm = 1.0;  // 0: no clipping
  OnNan on_nan = OnNan::stop;
  std::optional<std::int64_t> max_nan_steps;  // only for OnNan::skip

  // Values, with the defaults of what is not given.
  double beta1() const { return adam_beta1.value_or(0.9); }
  double beta2() const { return adam_beta2.value_or(0.999); }
  double epsilon() const { return adam_epsilon.value_or(1e-8); }
  double momentum() const { return sgd_momentum.value_or(0); }
  // Skipped steps in a row before the run ends.
  std::int64_t nan_step_limit() const { return max_nan_steps.value_or(10); }
};

// Whether --min-lr-ratio has an effect on it.
bool has_min_ratio(LearningRateSchedule schedule);

void describe(OptionTable& table, OptimizerOptions& options);

}  // namespace odb
