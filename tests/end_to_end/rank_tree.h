// The data processes of one rank of a training by role, as /proc and the log show them, and what
// can be done to them from outside.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "trainer_runs.h"

namespace odb {

class RankTree {
 public:
  // Of a rank of `run`, which must outlive it; `workers`: its --data-workers.
  RankTree(const TrainerRun& run, int rank, int world, int workers);

  struct Roles {
    pid_t fork_server = 0;
    pid_t collate = 0;
    std::vector<pid_t> workers;

    // Those that make samples.
    std::vector<pid_t> builders() const { return workers.empty() ? std::vector{collate} : workers; }
  };
  // Nothing while one of them has died and is not replaced yet.
  std::optional<Roles> roles() const;

  pid_t trainer() const { return run_.trainer(rank_); }
  // The log's lines of this rank's data processes.
  std::string log() const;
  // Lines of the log so far about samples that are left out.
  std::size_t left_out() const;

  // true: processes that the fork server forks from now on get little more memory than they begin
  // with. Enough for short samples, not for large ones (odd_rows.h): an allocation fails, and the
  // process ends as one that is out of memory. Those that were forked before are not limited.
  void limit_memory(bool limited) const;

 private:
  const TrainerRun& run_;
  int rank_;
  std::string mark_;  // of the rank, in the log's lines
  std::size_t processes_;
};

// Processor time of a process so far, 0 when it is gone.
double processor_seconds(pid_t process);

}  // namespace odb
