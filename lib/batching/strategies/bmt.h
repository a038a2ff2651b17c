// bmt (bucketed max tokens): views fall into length buckets whose bounds grow by a tenth, stay in
// random order inside, and fill batches to --l-max bucket by bucket; then all batches are shuffled.
//
// Knows: every length (a bucket sampler that streams knows only the bucket of each; the batches are
// the same but for its tail). Guarantees: no batch over --l-max but for single long samples; rows
// of a batch differ in length by at most a tenth, a token at least; every view once; batches in
// random order. Each bucket leaves one batch that is not full.
//
// Counterpart: bucket-by-length samplers with a token budget; ranks take every W-th batch.
#pragma once

#include <cstdint>
#include <vector>

#include "batching/strategies/epoch_plan.h"

namespace odb {

// The longest length of each bucket, up to the one that holds `longest`: 1, 2, ... and each at
// least a tenth, rounded up, above the one before.
std::vector<std::int64_t> bucket_bounds(std::int64_t longest);

EpochPlan plan_bmt(const PlanInput& input);

}  // namespace odb
