// The checks of how ranks are started here, and of the GPUs that they would use. Pure.
#pragma once

#include <vector>

#include "base/machine.h"
#include "doctor/check.h"

namespace odb {

// Slurm, MPI, rank variables, GPUs.
std::vector<Check> check_launch(const MachineFacts& facts);

}  // namespace odb
