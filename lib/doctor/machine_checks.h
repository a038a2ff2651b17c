// The verdict of `doctor` on the facts: one check per line, each with what to do if it is not ok.
// Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/machine.h"
#include "doctor/check.h"

namespace odb {

// In a fixed order: always the same checks, plus one per folder. `ranks`: of a run whose rank 0
// would be on this machine.
std::vector<Check> check_machine(const MachineFacts& facts, std::int64_t ranks = 1);

}  // namespace odb
