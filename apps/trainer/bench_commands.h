// The parts that `bench` measures; bench_command.cc holds the table.
#pragma once

#include "commands.h"

namespace odb {

int bench_loader(const Arguments& arguments);
int bench_samples(const Arguments& arguments);
int bench_tokenizer(const Arguments& arguments);

}  // namespace odb
