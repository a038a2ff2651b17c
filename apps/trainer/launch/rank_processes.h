// The ranks of a `launch` together: started, listened to, and awaited until the last has ended.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "rank_end.h"
#include "rank_process.h"

namespace odb {

// Starts the ranks, and waits for the end of all. Stop signals are passed on, each time they come;
// rank 0 acknowledges the first one, or this process where ranks log to files.
//
// Once a rank has failed its end is logged as the cause (rank_end.h): at once when it was killed,
// else when all have ended or after two seconds, since ranks that fail together do so within that.
// Where the cause proves to be one that ended later (a long core dump), that is told, too. The
// others have `patience` to leave by themselves; then they are killed.
//
// Each rank has a file of its lines in `log_folder` (rank_log.h). Where that is empty rank 0 has
// this process's standard error, and lines of the others follow there with their number in front.
// FileError: no log file is to be had, then no rank was started; or no process or pipe.
std::vector<RankEnd> run_rank_processes(const RankCommand& command, const std::string& log_folder,
                                        std::chrono::milliseconds patience);

}  // namespace odb
