// The subcommands of odb-trainer: each takes the arguments after its name and returns the process's
// exit code, or throws an Error. One small file per command; main.cc holds the table.
#pragma once

#include "base/options/command_line.h"

namespace odb {

int bench_command(const Arguments& arguments);
int doctor_command(const Arguments& arguments);
#ifdef ODB_WITH_LIBTORCH
int export_command(const Arguments& arguments);
int generate_command(const Arguments& arguments);
int launch_command(const Arguments& arguments);
int train_command(const Arguments& arguments);
#endif
int inspect_command(const Arguments& arguments);
int plan_command(const Arguments& arguments);
int tokenize_command(const Arguments& arguments);
int version_command(const Arguments& arguments);

}  // namespace odb
