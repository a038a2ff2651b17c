// The ranks that `launch` starts on this machine: processes of this binary, each in a process group
// of its own, whose lines come through here.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace odb {

struct RankProcessesOptions {
  int ranks = 1;
  std::vector<std::string> words;             // behind the binary's name: "train", "--data", ...
  std::string log_folder;                     // a file for each rank; empty: all to standard error
  std::chrono::milliseconds patience{30000};  // once a rank has failed, for the others to end
};

// How a rank ended.
struct RankEnd {
  int rank = 0;
  int code = 0;       // a killed rank counts as a lost peer
  int signal = 0;     // that killed it; 0: none
  bool ours = false;  // killed by us, after another had failed
};

// Pure: the exit code of a launch. 0 when all ranks ended so, `saved` when all did that; else that
// of the first that failed. `ends`: in their order.
int launch_code(const std::vector<RankEnd>& ends);

// Starts them, and waits for the end of all. Ranks find each other through the environment
// (train/launch_place.h); rank 0 inherits the listening socket of its store, so no port can be
// taken meanwhile. SIGTERM, SIGUSR1 and SIGINT are passed on, each time they come. Once a rank has
// failed the others have `patience` to end by themselves, then they are killed. Ranks die with this
// process. Rank 0 has this process's standard error where no folder is given; lines of the others
// follow there with their number in front. FileError: no process, pipe or log file is to be had.
std::vector<RankEnd> run_rank_processes(const RankProcessesOptions& options);

}  // namespace odb
