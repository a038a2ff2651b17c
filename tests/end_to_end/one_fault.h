// One fault at a random moment of a training: of its start, its steps, its evaluations or its end.
#pragma once

#include <cstdint>

#include "run_verdict.h"

namespace odb {

// A short training of 1 to 3 ranks, by `launch` or as ranks of their own, in which one process
// (launch, a rank, its fork server or a data process) is killed, stopped for a while or for good,
// or asked to stop. The seed draws all of it; what the fault meets is up to the machine. The
// verdict holds what the documented codes are for that fault, and an error where a process stays.
RunVerdict train_with_one_fault(std::uint64_t seed);

}  // namespace odb
