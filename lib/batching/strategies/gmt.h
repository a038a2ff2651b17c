// gmt (global max tokens): all views sorted by length, longest first; each batch is filled to
// --l-max in that order; then all batches are shuffled. An oracle: the reference for what
// strategies that do not know lengths can reach.
//
// Knows: every length. Guarantees: no batch over --l-max except single long samples; under the
// padded layout no partition into batches is smaller, and padding is as small as the budget
// permits; every view once; batches in random order. Does not: match step mates by cost.
//
// Counterpart: max-tokens batching of translation trainers, where ranks take every W-th batch.
#pragma once

#include "batching/strategies/epoch_plan.h"

namespace odb {

EpochPlan plan_gmt(const PlanInput& input);

}  // namespace odb
