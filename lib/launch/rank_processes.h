// Starts the ranks of a `launch`, reads their lines, and waits until the last has ended.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launch/rank_end.h"
#include "launch/rank_process.h"

namespace odb {

// Starts the ranks, and waits for all to end. Stop signals are passed on, each time they come; rank
// 0 acknowledges the first one, or this process if ranks log to files.
//
// Once a rank has failed, its end is logged as the cause (rank_end.h): at once if it was killed,
// otherwise when all have ended or after two seconds, because ranks that fail together do so within
// that time. If the cause turns out to be a rank that ended later (a long core dump), that is
// logged, too. The others have `patience` to leave by themselves; then they are killed.
//
// Each rank has a log file in `log_folder` (rank_log.h). If that is empty, rank 0 has this
// process's standard error, and lines of the others are printed there with their rank in front.
// FileError: a log file cannot be created, then no rank was started; or a process or pipe cannot
// be.
std::vector<RankEnd> run_rank_processes(const RankCommand& command, const std::string& log_folder,
                                        std::chrono::milliseconds patience);

}  // namespace odb
