// Continues an epoch on another number of ranks: what the old ranks had not trained is dealt anew,
// every remaining view exactly once. May be repeated without end.
//
// Source of the counts: each old rank holds (window + undrawn) minus what was taken or left out in
// the round it stopped in. Ids from windows and from that round's refill become the leftover list,
// shared by all; undrawn positions stay progressions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "batching/item.h"
#include "batching/options.h"
#include "batching/state.h"

namespace odb {

// The views at a position of the epoch's order: one for odb; a batch for strategies that plan whole
// batches.
using ViewsAt = std::function<std::vector<ViewId>(std::int64_t position)>;

struct Redealt {
  std::vector<ViewId> leftovers;   // the new list, to be kept once for all ranks
  std::vector<RoundStart> starts;  // element r is the new rank r's, slots and rounds counted on
};

// `old` are the states of all old ranks at the same step, in any order; `old_leftovers` the list
// that their positions refer to. FileError: a rank missing or twice, states of different steps, or
// a state that names views its rank had not drawn.
Redealt redeal(std::span<const OwnedState> old, std::span<const ViewId> old_leftovers,
               const ViewsAt& views_at, int new_world);

}  // namespace odb
