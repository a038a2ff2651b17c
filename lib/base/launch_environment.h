// Which rank of how many a process is, as the program that started it says by environment
// variables. Pure.
//
//   source     started by                              rank, ranks of the job
//   RANK       odb-trainer launch, torchrun, by hand   RANK, WORLD_SIZE
//   Open MPI   mpirun                                  OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE
//   MVAPICH    mpirun_rsh                              MV2_COMM_WORLD_RANK, MV2_COMM_WORLD_SIZE
//   PMI        mpiexec of MPICH, Intel MPI (Hydra)     PMI_RANK, PMI_SIZE
//   Slurm      srun, inside a step                     SLURM_PROCID, SLURM_STEP_NUM_TASKS
//
// The first source in this order that has a variable decides: launchers in an allocation of Slurm
// leave Slurm's own variables in place, with other meanings (torchrun and mpirun are one task of a
// step each). A source of which only a part is there is refused: such a process would train alone,
// beside others that do the same. The shell of a batch job is no task of a step, and neither is a
// shell that srun opened for one task.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/host_port.h"

namespace odb {

// The value of an environment variable; nothing: not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

struct RankPlace {
  std::string source;  // "RANK", "Open MPI", "MVAPICH", "PMI", "Slurm"
  std::int64_t rank = 0;
  std::int64_t world = 1;
  std::optional<std::int64_t> local_rank;   // among the ranks of its machine
  std::optional<std::int64_t> local_world;  // ranks of its machine

  friend bool operator==(const RankPlace&, const RankPlace&) = default;
};

// Nothing: a process that no launcher started. UsageError, naming the variables and their values: a
// part is missing, is no whole number, or contradicts the rest.
std::optional<RankPlace> find_rank_place(const Environment& environment);

// All variables that functions here read.
std::span<const char* const> launch_variables();

// A warning for a process in a Slurm job of several tasks that is none of them; empty: it is one,
// or there is no such job.
std::string batch_shell_notice(const Environment& environment);

// Ports of runs that meet by the names of Slurm: below those that systems hand out by themselves.
inline constexpr std::uint16_t kFirstSlurmPort = 20000;
inline constexpr std::uint16_t kLastSlurmPort = 29999;

// Where the tasks of a Slurm step meet: the first host of the step, and a port that job, step and
// restart decide, so that jobs on one machine rarely share one. Nothing: no list of hosts.
// UsageError: the list cannot be read.
std::optional<HostPort> slurm_rendezvous(const Environment& environment);

}  // namespace odb
