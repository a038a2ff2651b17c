// The learning rate as a function of progress.
//
// Batches vary in size, so the number of steps is not known in advance. A schedule depends on the
// share of the run that is done before a step. With --max-steps and parts given as shares that are
// whole steps, every value equals that of the schedule of the same name in the transformers
// library.
//
// Parts given as amounts need no knowledge of the future: at share p with c units done, an amount
// of a units is the share a * p / c of the run. This is exact for the unit of the run's own limit,
// and converges quickly for others.
#pragma once

#include <cstdint>
#include <string>

#include "train/step/optimizer_options.h"
#include "train/step/progress.h"

namespace odb {

struct ScheduleShape {
  LearningRateSchedule schedule = LearningRateSchedule::cosine;
  RunPart warmup;
  RunPart decay{.share = 0.1, .amount = {}};  // the end of warmup-stable-decay
  double min_ratio = 0;  // lowest factor of cosine-with-min, warmup-stable-decay and polynomial
  double power = 1;      // of polynomial
};

// The options' choices, with the defaults of the schedule: min_lr_ratio 0.1 for cosine-with-min,
// else 0; decay 0.1; power 1.
ScheduleShape schedule_shape(const OptimizerOptions& options);

// Sets options that are not given, and have an effect together with the others, to their defaults.
// The options stay valid and mean the same. For the record of a run.
void fill_defaults(OptimizerOptions& options);

// The factor of --lr for the next step: 0..1, and 0 only where the schedule is 0.
double learning_rate_factor(const ScheduleShape& shape, const Progress& before_step);

// Why a run of this length learns nothing: its only step is the first of a warm-up, at rate 0.
// Empty: no such reason is known (the number of steps of an epoch is unknown before its end), or
// --lr 0 asks for it.
std::string why_nothing_is_learned(const OptimizerOptions& options, const RunLimits& limits);

// The pure function of learning_rate_factor(): `share` 0..1 of the run is done; `warmup` and
// `decay` are shares of the run. `steps` done matter only to inverse-sqrt without a warm-up.
double schedule_factor(const ScheduleShape& shape, double share, double warmup, double decay,
                       std::int64_t steps);

}  // namespace odb
