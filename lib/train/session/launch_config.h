// Which rank this process is, of how many, and where the ranks meet. Pure: computed from options
// and environment variables.
//
// The rank: --rank and --world-size, else the environment (base/launch_environment.h), else the
// only one. Where ranks meet: --rendezvous HOST:PORT; with `env`, MASTER_ADDR and MASTER_PORT; with
// `slurm`, the first host of the step and a port of its own; `auto` takes the first of these that
// there is.
#pragma once

#include <optional>
#include <string>

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
  std::string source = "default";       // what gave the rank: "options", "RANK", "Slurm", ...

  friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

// UsageError: numbers that do not fit together, a rank without a meeting point, a variable that is
// missing or not a number.
LaunchConfig find_launch_config(const RankOptions& options, const Environment& environment);

// "rank 3 of 16 by Slurm, 1 of 8 on this machine; rank 0 is at node001:23456".
std::string describe(const LaunchConfig& launch);

}  // namespace odb
