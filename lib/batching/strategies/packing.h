// packing: rows of --l-max tokens, filled by best fit decreasing over all views: longest first,
// each view goes to the row that it leaves with the least room. A row is a batch; rows are
// shuffled.
//
// Knows: every length. Guarantees: the sum of lengths of a row is at most --l-max except for
// single long samples, which get a row of their own, uncut; at most 11/9 x minimum rows + 4
// (Johnson, 1974); every view once; rows in random order. Attention never crosses samples: a row is
// a group of the flat layout, and only its real tokens are computed. The padded layout is refused.
//
// Counterpart: packing by best fit decreasing in fine-tuning tools, where ranks take every W-th row
// and the last rows are repeated or dropped.
#pragma once

#include "batching/strategies/epoch_plan.h"

namespace odb {

// UsageError: the padded layout; rows of more than 2^24 tokens.
EpochPlan plan_packing(const PlanInput& input);

}  // namespace odb
