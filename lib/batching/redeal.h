// Continues an epoch on another number of ranks: the views that the old ranks had not trained are
// dealt to the new ranks, each exactly once. Can be repeated any number of times.
//
// Each old rank holds (window + undrawn) minus what was taken or left out in the round in which it
// stopped. Ids from windows and from that round's refill become the leftover list, which all ranks
// share; undrawn positions stay progressions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "batching/item.h"
#include "batching/options.h"
#include "batching/state.h"

namespace odb {

// The views at a position of the epoch's order: one view for odb, a batch for strategies that plan
// batches.
using ViewsAt = std::function<std::vector<ViewId>(std::int64_t position)>;

struct Redealt {
  std::vector<ViewId> leftovers;   // the new list, saved once for all ranks
  std::vector<RoundStart> starts;  // element r is the new rank r's, slots and rounds counted on
};

// `old`: the states of all old ranks at the same step, in any order; `old_leftovers`: the list that
// their positions refer to. FileError: a rank is missing or occurs twice, states of different
// steps, or a state names views that its rank had not drawn.
Redealt redeal(std::span<const OwnedState> old, std::span<const ViewId> old_leftovers,
               const ViewsAt& views_at, int new_world);

}  // namespace odb
