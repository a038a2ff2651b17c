// Measurements of single parts of the trainer: the commands below `odb-trainer bench`. Each takes
// the arguments after its name, prints what it measured, and returns the process's exit code.
#pragma once

#include "base/options/command_line.h"

namespace odb {

int bench_loader(const Arguments& arguments);
#ifdef ODB_WITH_LIBTORCH
int bench_align(const Arguments& arguments);
int bench_model(const Arguments& arguments);
#endif
int bench_samples(const Arguments& arguments);
int bench_tokenizer(const Arguments& arguments);

}  // namespace odb
