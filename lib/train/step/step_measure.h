// What the training loop measures: of each step, for metrics, and the seconds of each phase.
#pragma once

#include <cstdint>
#include <optional>

#include "train/step/progress.h"

namespace odb {

// One step as the loop measured it, for MetricsMeter.
struct StepMeasure {
  StepCount count;  // of the step
  double loss = 0;  // mean over its supervised tokens
  double grad_norm = 0;
  double lr = 0;
  double data_wait_seconds = 0;
  std::int64_t padded_tokens = 0;  // computed: tokens and padding
  std::int64_t real_tokens = 0;    // the real ones among them, seen from the same ranks
  double fill_sum = 0;             // sum of positions / L_max over the groups seen
  std::int64_t groups = 0;
  std::optional<double> peak_memory_gb;
};

// Seconds.
struct PhaseSeconds {
  double forward = 0;
  double backward = 0;   // with the reduction over ranks, which it overlaps
  double update = 0;     // clipping and optimizer
  double data_wait = 0;  // this rank had no slot
  double control = 0;    // votes: mostly waiting for other ranks
  double events = 0;     // evaluation, files, console
  double all = 0;        // of the loop

  double other() const {
    return all - (forward + backward + update + data_wait + control + events);
  }
};

}  // namespace odb
