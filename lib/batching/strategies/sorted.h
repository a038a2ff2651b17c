// sorted: batches of --batch-size rows, cut from all views sorted by length, longest first, and
// trained in that order.
//
// Knows: every length. Guarantees: rows of a batch are as alike as fixed-size batches permit, so
// padding is small; the largest batch comes first, so a device that can hold it holds all; every
// view once. Does not: keep batches within --l-max, or keep the order random - the epoch runs from
// long to short, which shows as length bias.
//
// Counterpart: length-grouped samplers with one pool, as long as the epoch. There each rank takes
// every W-th sample of the sorted order; here every W-th batch, which keeps neighbors together.
#pragma once

#include "batching/strategies/epoch_plan.h"

namespace odb {

EpochPlan plan_sorted(const PlanInput& input);

}  // namespace odb
