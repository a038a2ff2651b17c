// A whole training run of one rank, from options to exit code.
//
//   options, data, model's config        checked; one thread (training_inputs.h)
//   data processes                        forked
//   store, heartbeat, groups              ranks have met
//   model, optimizer, reducer             rank 0's weights on all
//   the loop (training_loop.h)
//   checkpoint, summary                   ranks leave together
#pragma once

#include <chrono>
#include <string>

#include "train/run_options.h"

namespace odb {

// Runs it. `config` is what goes into the run folder's config.json; `process_start`: for the times
// that are told. The process must have a single thread. Answers ExitCode::done or, stopped by a
// signal or its time limit, ExitCode::saved; all else is an Error. A peer that falls silent ends
// the process from within (rank_heartbeat.h).
int run_training(const RunOptions& options, const std::string& config,
                 std::chrono::steady_clock::time_point process_start);

}  // namespace odb
