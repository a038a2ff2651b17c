// Simulates one epoch of a strategy on all ranks.
//
// Runs the real state machines of all ranks, Rounds over GroupSource, in one thread; reductions are
// loops. Slots are measured and dropped round by round. Memory: the lengths (4 bytes per sample),
// the plan of a strategy that has one (about 16), and each rank's window.
#pragma once

#include <cstdint>

#include "batching/options.h"
#include "batching/strategies/epoch_plan.h"
#include "plan/step_time.h"
#include "plan/timeline.h"

namespace odb {

struct SimulationInput {
  LengthTable lengths;      // every token counts as supervised
  BatchingOptions options;  // resolved; quadratic_cost is taken from step_time
  int world = 1;
  std::uint64_t seed = 0;
  StepTime step_time;
  PipelineModel pipeline;
};

// Fractions are 0..1. A rank-slot is one slot of one rank.
struct SimulationResult {
  std::int64_t rounds = 0;
  std::int64_t steps = 0;  // slots in which at least one rank computes
  std::int64_t tail_steps =
      0;  // of these: after some rank drew its last view, when open groups are sent
  std::int64_t samples = 0;
  std::int64_t tokens = 0;         // real
  std::int64_t positions = 0;      // computed: tokens and padding
  std::int64_t groups = 0;         // rank-slots with data
  std::int64_t largest_group = 0;  // positions

  double padding_fraction = 0;         // 1 - tokens / positions
  double budget_fill = 0;              // mean of positions / L_max over groups
  double budget_fill_before_tail = 0;  // the same without tail_steps; 0 if there are no others
  double idle_fraction = 0;            // rank-slots without data
  // Shares of the time that all ranks spend in slots, communication excluded: the wait of ranks
  // with data for the slowest rank, and the wait of ranks without data.
  double straggler_fraction = 0;
  double idle_time_fraction = 0;
  double data_wait_fraction = 0;  // of seconds: trainers wait for a slot

  double seconds = 0;
  double tokens_per_second = 0;
  double tokens_per_step_cv = 0;  // standard deviation / mean over steps

  // Whether the order of the epoch depends on length.
  double mean_length = 0;
  double length_bias = 0;         // correlation of a group's mean length with its slot number
  double first_tenth_length = 0;  // mean length of the samples in the first tenth of the steps
  double last_tenth_length = 0;
};

// UsageError: no samples, non-join with fewer samples than ranks, and what plan_epoch throws.
SimulationResult simulate(const SimulationInput& input);

}  // namespace odb
