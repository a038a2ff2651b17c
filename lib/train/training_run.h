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

// Runs it. `config` is the content of config.json in the run folder; `process_start`: the origin of
// reported times. The process must have a single thread. Returns ExitCode::done or, if a signal or
// its time limit stopped it, ExitCode::saved; everything else is an Error. A peer that falls silent
// ends the process from within (session/process_end.h).
int run_training(const RunOptions& options, const std::string& config,
                 std::chrono::steady_clock::time_point process_start);

}  // namespace odb
