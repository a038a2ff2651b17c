// The options of `train`, read from its arguments: by the command itself, and by `launch` before it
// starts any rank.
#pragma once

#include "base/options/table.h"
#include "commands.h"
#include "train/run_options.h"

namespace odb {

// `table` must be empty; it describes `options`, which must outlive it. False: help, config or
// schema was printed, and nothing is left to run. UsageError.
bool read_train_arguments(const Arguments& arguments, OptionTable& table, RunOptions& options);

}  // namespace odb
