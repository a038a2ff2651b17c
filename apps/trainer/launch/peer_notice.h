// Tells the ranks that are left which one is gone: they would find its connections broken, and wait
// up to `--timeout` to learn whose they were.
#pragma once

#include "rank_end.h"

namespace odb {

// Puts the end of a rank that was killed on the board of the run's store (train/failure_board.h),
// which rank 0 hosts on `port` of this machine, and counts as its reader there: the board waits for
// all. Blocks for up to a second. False: the store does not answer, not yet or no more.
bool tell_peers(int port, const RankEnd& end);

}  // namespace odb
