// Faults in a training that a seed draws: its data processes are killed, stopped and starved of
// memory while it trains short rows and a few odd ones, and now and then a rank is lost or the run
// is stopped.
#pragma once

#include <cstdint>

#include "run_verdict.h"

namespace odb {

// A training of `world` ranks with 2 to 6 faults at drawn moments, unless it ends before. Its
// options are drawn, too. With every fourth seed the last fault is a lost rank, a lost fork server
// or a stop. The same faults for the same seed; what they meet is up to the machine. The verdict's
// report begins with the options and the faults.
RunVerdict train_with_faults(std::uint64_t seed, int world);

}  // namespace odb
