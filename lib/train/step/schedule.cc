#include "train/step/schedule.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include <fmt/format.h>

namespace odb {
namespace {

// The warm-up length that inverse-sqrt assumes if there is none.
constexpr double kInverseSqrtSteps = 10000;

// 1 -> 0 for 0 -> 1, on half a cosine.
double cosine_fall(double part) {
  return std::max(0.0, 0.5 * (1 + std::cos(std::numbers::pi * part)));
}

double above(double least, double factor) {
  return least + (1 - least) * factor;
}

// How far `share` is from `begin` to 1.
double part_after(double begin, double share) {
  return begin >= 1 ? 1 : std::clamp((share - begin) / (1 - begin), 0.0, 1.0);
}

double stable_then_decay(const ScheduleShape& shape, double share, double decay) {
  if (share < 1 - decay) return 1;
  return above(shape.min_ratio, decay <= 0 ? 0 : cosine_fall(part_after(1 - decay, share)));
}

double falling_root(double share, double warmup, std::int64_t steps) {
  if (warmup > 0) return std::sqrt(warmup / share);
  return 1 / std::sqrt(1 + static_cast<double>(steps) / kInverseSqrtSteps);
}

// The share of the run that `part` is, at the pace so far; more than 1 if it is longer than the
// run. 1 while nothing is done.
double share_of(const RunPart& part, const Progress& progress) {
  if (!part.amount) return part.share;
  const double done = progress.count(part.amount->unit);
  if (done <= 0 || progress.share() <= 0) return 1;
  return part.amount->value * progress.share() / done;
}

}  // namespace

ScheduleShape schedule_shape(const OptimizerOptions& options) {
  const bool has_floor = options.lr_schedule == LearningRateSchedule::cosine_with_min;
  return {.schedule = options.lr_schedule,
          .warmup = options.warmup,
          .decay = options.decay.value_or(RunPart{.share = 0.1, .amount = {}}),
          .min_ratio = options.min_lr_ratio.value_or(has_floor ? 0.1 : 0),
          .power = options.polynomial_power.value_or(1)};
}

double schedule_factor(const ScheduleShape& shape, double share, double warmup, double decay,
                       std::int64_t steps) {
  using enum LearningRateSchedule;
  if (share < warmup) {
    const double risen = share / warmup;
    return shape.schedule == warmup_stable_decay ? above(shape.min_ratio, risen) : risen;
  }
  const double part = part_after(warmup, share);
  switch (shape.schedule) {
    case cosine:
      return cosine_fall(part);
    case constant:
      return 1;
    case linear:
      return 1 - part;
    case cosine_with_min:
      return above(shape.min_ratio, cosine_fall(part));
    case warmup_stable_decay:
      return stable_then_decay(shape, share, decay);
    case inverse_sqrt:
      return falling_root(share, warmup, steps);
    case polynomial:
      return above(shape.min_ratio, std::pow(1 - part, shape.power));
  }
  std::abort();
}

std::string why_nothing_is_learned(const OptimizerOptions& options, const RunLimits& limits) {
  if (options.lr <= 0 || limits.steps != 1 ||
      learning_rate_factor(schedule_shape(options), Progress(limits)) > 0)
    return "";
  return fmt::format(
      "--max-steps 1 with --warmup {}: the first step of a warm-up has learning rate 0, so this "
      "run will change no weight; give --warmup 0 or more steps",
      print_run_part(options.warmup));
}

double learning_rate_factor(const ScheduleShape& shape, const Progress& before_step) {
  return schedule_factor(shape, before_step.share(), share_of(shape.warmup, before_step),
                         std::min(1.0, share_of(shape.decay, before_step)),
                         before_step.totals().steps);
}

void fill_defaults(OptimizerOptions& options) {
  const ScheduleShape shape = schedule_shape(options);
  const LearningRateSchedule schedule = options.lr_schedule;
  if (has_min_ratio(schedule)) options.min_lr_ratio = shape.min_ratio;
  if (schedule == LearningRateSchedule::warmup_stable_decay) options.decay = shape.decay;
  if (schedule == LearningRateSchedule::polynomial) options.polynomial_power = shape.power;
  if (options.optimizer == OptimizerKind::adamw) {
    options.adam_beta1 = options.beta1();
    options.adam_beta2 = options.beta2();
    options.adam_epsilon = options.epsilon();
  } else {
    options.sgd_momentum = options.momentum();
  }
  if (options.on_nan == OnNan::skip) options.max_nan_steps = options.nan_step_limit();
}

}  // namespace odb
