// The life of one rank's training process, from the rendezvous to leaving.
#pragma once

#include <chrono>
#include <string>

#include "base/files.h"
#include "data/loader/processes/data_processes.h"
#include "train/session/process_end.h"
#include "train/training_inputs.h"

namespace odb {

// Meets the other ranks, trains and saves with them, and leaves together with them. `config`: the
// options of the run as JSON, equal on all ranks where they must be. `end` ends the process where
// this thread cannot. Blocks until the end. Returns
// ExitCode::done or saved. Throws an Error with the cause, equal on all ranks, when the run failed.
int run_rank(FileSystem& files, TrainingInputs& inputs, DataProcesses& processes, ProcessEnd& end,
             const std::string& config, std::chrono::steady_clock::time_point process_start);

}  // namespace odb
