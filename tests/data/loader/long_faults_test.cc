// The long part of the fault tests: many seeds, for one rank and several.
#include "catch.h"
#include "fault_runs.h"

namespace odb {

TEST_CASE("long faults: two hundred in one epoch, many seeds") {
  for (std::uint64_t seed = 100; seed < 140; ++seed)
    run_with_faults(seed, static_cast<int>(seed % 4), 200);
}

TEST_CASE("long faults: two hundred over the processes of several ranks, many seeds") {
  for (std::uint64_t seed = 200; seed < 230; ++seed) {
    const int world = 2 + static_cast<int>(seed % 3);
    run_ranks_with_faults(seed, world, 1000 * world);
  }
}

}  // namespace odb
