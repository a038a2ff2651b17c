// bmt (bucketed max tokens): views are put into length buckets whose bounds grow by a tenth. Each
// bucket, in random order, is cut into batches of up to --l-max. Then all batches are shuffled.
//
// Knows: every length (a streaming bucket sampler knows only each sample's bucket; its batches
// differ only at its tail). Guarantees: no batch over --l-max except single long samples; the
// lengths in a batch differ by at most a tenth, or one token; every view once; batches in random
// order. Each bucket leaves one batch that is not full.
// Counterpart: bucket-by-length samplers with a token budget; ranks take every W-th batch.
#pragma once

#include <cstdint>
#include <vector>

#include "batching/strategies/epoch_plan.h"

namespace odb {

// The longest length of each bucket, up to the bucket that holds `longest`: 1, 2, ..., each at
// least a tenth (rounded up) above the one before.
std::vector<std::int64_t> bucket_bounds(std::int64_t longest);

EpochPlan plan_bmt(const PlanInput& input);

}  // namespace odb
