// Where an optimizer step ends: after a number of micro-steps, or once the global sum of tokens or
// samples reaches its target. Depends only on slot totals, so every rank decides the same, before
// the forward pass.
#pragma once

#include <cstdint>

#include "batching/options.h"
#include "batching/slot.h"

namespace odb {

// What the open step holds. All zero: no step is open.
struct OpenStep {
  std::int64_t micro_steps = 0;
  std::int64_t tokens = 0;   // real tokens over all ranks
  std::int64_t samples = 0;  // over all ranks

  bool open() const { return micro_steps > 0; }
  friend bool operator==(const OpenStep&, const OpenStep&) = default;
};

// Adds a slot with these totals to `step`. True: it is the last slot of its step, and `step` is
// empty again.
bool count_slot(const BatchingOptions& options, const SlotTotals& totals, OpenStep& step);

// --accumulate of a run that continues on another number of ranks, so that a step holds the same
// number of groups: accumulate * old_world / new_world. Throws UsageError when that is not an
// integer, naming the --global-batch-tokens to use (from `tokens_per_step`, the mean so far).
std::int64_t accumulate_on_other_world(std::int64_t accumulate, int old_world, int new_world,
                                       std::int64_t tokens_per_step);

}  // namespace odb
