// The parts that `bench` measures; bench_command.cc holds the table.
#pragma once

#include "commands.h"

namespace odb {

int bench_loader(const Arguments& arguments);
#ifdef ODB_WITH_LIBTORCH
int bench_align(const Arguments& arguments);
int bench_model(const Arguments& arguments);
#endif
int bench_samples(const Arguments& arguments);
int bench_tokenizer(const Arguments& arguments);

}  // namespace odb
