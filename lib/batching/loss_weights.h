// The weight of each token's loss, so that the gradient of a step is the gradient of one defined
// mean over all ranks and micro-steps.
//
// A rank's backward pass runs on the sum of (token weight x token loss); the all-reduce averages
// over W ranks; the result is multiplied by W / denominator. Both factors are known before the
// forward pass, because slots carry their totals.
#pragma once

#include <cstdint>

#include "batching/options.h"
#include "batching/slot.h"

namespace odb {

// Weight of every supervised token of a row that has `row_supervised` of them, in a group that has
// `group_supervised` of them.
//   token      1: every token counts the same
//   sample     1 / row_supervised: every sample counts the same
//   rank_mean  1 / group_supervised: every group counts the same, as in plain DDP
double token_weight(LossNorm norm, std::int64_t row_supervised, std::int64_t group_supervised);

// The divisor of the weighted sum over ranks and micro-steps: supervised tokens, samples, or groups
// with supervised tokens of the step.
std::int64_t loss_denominator(LossNorm norm, const SlotTotals& step);

// The factor on gradients averaged over `world` ranks: world / denominator. 0 when there is nothing
// to learn from: no optimizer step.
double gradient_scale(LossNorm norm, const SlotTotals& step, int world);

}  // namespace odb
