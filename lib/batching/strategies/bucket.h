// bucket: the random order of the epoch is cut into pools of --bucket-pool-factor x --batch-size
// views; each pool is sorted by length and cut into batches of --batch-size rows; all batches are
// shuffled. In the padded layout lengths are rounded up to --pad-multiple.
//
// Knows: the lengths of a pool (for robot episodes they are in the index: no data is read).
// Guarantees: every view once; batches in random order. Does not: keep batches within --l-max.
//
// Counterpart: length-bucket batch samplers. Data-parallel wrappers around them give every W-th
// batch to a rank, then repeat the first batches or drop the last; here ranks without a last batch
// are idle for one slot.

#include "batching/strategies/epoch_plan.h"

namespace odb {

EpochPlan plan_bucket(const PlanInput& input);

}  // namespace odb
