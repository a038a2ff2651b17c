// The long part of the fault tests over Gloo: many seeds, hundreds of faults in an epoch.
#include "catch.h"
#include "fault_runs.h"
#include "gloo_rendezvous.h"

namespace odb {

TEST_CASE("long gloo ranks: two hundred faults in one epoch over the processes of several ranks") {
  for (std::uint64_t seed = 300; seed < 310; ++seed) {
    const int world = 2 + static_cast<int>(seed % 3);
    const GlooRendezvous place(world);
    run_ranks_with_faults(seed, world, 2000 * world, place.get());
  }
}

}  // namespace odb
