// One step as the loop saw it: what metrics are made of.
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

}  // namespace odb
