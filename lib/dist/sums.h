// A few numbers over the ranks, by the control group: their sums, which are also points where ranks
// wait for each other, or those of rank 0.
#pragma once

#include <vector>

namespace odb {

class TrainingGroups;

// Element-wise over all ranks, over the control group; the same bits on all. Collective: blocks
// until all ranks have called, without limit. Not while a vote is under way. PeerLostError.
std::vector<double> sum_over_ranks(TrainingGroups& groups, const std::vector<double>& values);

// Rank 0's values on all ranks, bit for bit; those of other ranks count only by their number, which
// is the same on all. Collective: blocks until rank 0 has called, without limit; rank 0 may return
// before the others have called. A vote may be under way: it has connections of its own. Does
// nothing where the rank is alone. PeerLostError.
std::vector<double> values_of_rank_0(TrainingGroups& groups, const std::vector<double>& values);

// Blocks until all ranks have called it.
void await_all_ranks(TrainingGroups& groups);

}  // namespace odb
