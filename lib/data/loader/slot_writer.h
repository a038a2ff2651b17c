// Writes a slot and the samples of its group into the arena, in either layout.
#pragma once

#include "batching/group.h"
#include "batching/slot.h"
#include "data/loader/samples/sample_store.h"
#include "data/loader/shared/arena.h"

namespace odb {

// Where a slot stands in the pipeline.
struct SlotNumbers {
  std::int64_t sequence = 0;
  std::int64_t ordinal = 0;  // of its round
  std::int64_t epoch = 0;
};

// Moves the samples of the slot's group from `store` to the arena. InternalError: more rows were
// left out in one refill than a slot has room for.
void write_slot(const Slot& slot, const SlotNumbers& at, const CostModel& model, SampleStore& store,
                const SlotBuffers& buffers);

// For a slot that was published before: only removes its samples from the store.
void skip_slot(const Slot& slot, SampleStore& store);

}  // namespace odb
