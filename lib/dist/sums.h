// Sums of a few numbers over the ranks. They are also points where ranks wait for each other.
#pragma once

#include <vector>

namespace odb {

class TrainingGroups;

// Element-wise over all ranks, over the control group; the same bits on all. Collective: blocks
// until all ranks have called, without limit. Not while a vote is under way. PeerLostError.
std::vector<double> sum_over_ranks(TrainingGroups& groups, const std::vector<double>& values);

// Blocks until all ranks have called it.
void await_all_ranks(TrainingGroups& groups);

}  // namespace odb
