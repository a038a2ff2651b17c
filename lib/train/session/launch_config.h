// Which rank this process is, of how many, and where the ranks meet. Pure: computed from options
// and environment variables.
//
// --rank, --world-size and --rendezvous HOST:PORT define everything. With `env`, and with `auto` if
// RANK and WORLD_SIZE are set, the variables that launchers commonly set are read: RANK,
// WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT; options win. `auto` without
// them is a single rank, which is refused if srun or mpirun started several such processes.
#pragma once

#include <optional>

#include "base/machine.h"
#include "dist/store.h"
#include "train/session/rank_options.h"

namespace odb {

struct LaunchConfig {
  int rank = 0;
  int world = 1;
  int local_rank = 0;                   // among the ranks of this machine; picks the GPU
  int local_world = 1;                  // ranks of this machine, as far as known
  HostPort store{"127.0.0.1", 0};       // hosted by rank 0; port 0: any, for a single rank
  std::optional<int> listening_socket;  // rank 0: inherited

  friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

// UsageError: numbers that do not fit together, a rank without a meeting point, a variable that is
// missing or not a number.
LaunchConfig find_launch_config(const RankOptions& options, const Environment& environment);

}  // namespace odb
