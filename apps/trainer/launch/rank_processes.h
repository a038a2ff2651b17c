// The ranks of a `launch` together: started, listened to, and awaited until the last has ended.
#pragma once

#include <chrono>
#include <vector>

#include "rank_end.h"
#include "rank_process.h"

namespace odb {

// Starts the ranks, and waits for the end of all. SIGTERM, SIGUSR1 and SIGINT are passed on, each
// time they come.
//
// Once a rank has failed its end is logged as the cause (rank_end.h): at once when it was killed,
// else when all have ended or after two seconds, since ranks that fail together do so within that.
// The others have `patience` to leave by themselves; then they are killed.
//
// Rank 0 has this process's standard error where the command names no folder; lines of the others
// follow there with their number in front. FileError: no process, pipe or log file is to be had.
std::vector<RankEnd> run_rank_processes(const RankCommand& command,
                                        std::chrono::milliseconds patience);

}  // namespace odb
