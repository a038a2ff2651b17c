// The finished batches of a rank: D slots in shared memory, written by collate, read in place by
// the trainer, published in order.
//
// Positions count the slots of a pipeline from 0, through all epochs; position p lies in slot
// p mod D. One release store publishes a slot, so a slot is visible as a whole or not at all,
// whenever its writer is killed. The trainer releases slots in order; only then are they written
// again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "batching/options.h"
#include "batching/slot.h"
#include "data/loader/shared/shared_memory.h"
#include "data/loader/shared/wake_up.h"
#include "tokenizer/token_id.h"

namespace odb {

// The capacity of a slot.
struct ArenaShape {
  std::int64_t slots = 8;          // D, --depth, at least 2
  std::int64_t padded_tokens = 0;  // of a batch: tokens (flat) or rows x columns (padded)
  std::int64_t left_out = 0;       // rows left out in one round's refill

  // Bytes of one slot and of all. Only used pages take memory; in the worst case worst_bytes():
  // every slot full, few rows left out.
  std::size_t slot_bytes() const;
  std::size_t bytes() const { return static_cast<std::size_t>(slots) * slot_bytes(); }
  std::size_t worst_bytes() const;
};

// The maximum positions of a batch under these options when no sample is longer than `longest`.
std::int64_t max_padded_tokens(const BatchingOptions& resolved, std::int64_t longest);

// The scalar members of a slot. Lies in shared memory.
struct SlotHeader {
  std::int64_t sequence = 0;
  std::int64_t ordinal = 0;  // of its round, counted from the start of the pipeline
  std::int64_t epoch = 0;
  std::int64_t number = 0;  // as in Slot: from 0 through the epoch
  std::int64_t round = 0;   // of the epoch
  std::int64_t index_in_round = 0;
  SlotKind kind = SlotKind::idle;
  bool last_of_step = false;
  bool over_budget = false;
  Layout layout = Layout::flat;
  SlotTotals totals;               // over all ranks
  std::int64_t rows = 0;           // of this rank's batch
  std::int64_t columns = 0;        // padded: of each row; flat: 0
  std::int64_t tokens = 0;         // real ones
  std::int64_t supervised = 0;     // labels that are not ignored
  std::int64_t padded_tokens = 0;  // of ids and labels
  std::int64_t left_out = 0;
};

static_assert(std::is_trivially_copyable_v<SlotHeader> && std::is_trivially_copyable_v<LeftOut>);

// A slot as its reader sees it. Valid until the slot is released.
struct BatchView {
  SlotHeader header;
  std::span<const TokenId> ids;           // flat [tokens]; padded [rows, columns], filled with 0
  std::span<const std::int32_t> labels;   // the same shape, filled with kIgnoreIndex
  std::span<const std::int32_t> offsets;  // [rows + 1]: sums of real lengths, in both layouts
  std::span<const ViewId> views;          // [rows]
  std::span<const LeftOut> left_out;      // of the round's refill: first slot of a round only
};

// The arrays of a slot that is being written; each has the capacity of the arena's shape.
struct SlotBuffers {
  SlotHeader* header = nullptr;
  std::span<TokenId> ids;
  std::span<std::int32_t> labels;
  std::span<std::int32_t> offsets;
  std::span<ViewId> views;
  std::span<LeftOut> left_out;
};

class Arena {
 public:
  Arena(const std::string& name, const ArenaShape& shape);

  const ArenaShape& shape() const { return shape_; }
  // All slots, page aligned, so that they can be pinned for faster copies to a device.
  std::span<std::byte> memory() const { return memory_.bytes(); }

  void clear();  // no slot is published any more; no process may use the arena meanwhile

  // ---- Collate's side. One writer.

  // The position after the last published one.
  std::int64_t next_sequence() const;
  // Whether the slot of `sequence`, the next one, was released.
  bool is_free(std::int64_t sequence) const;
  WakeUp& freed() { return shared_->freed; }
  SlotBuffers buffers(std::int64_t sequence) const;
  // Makes the slot written at buffers(sequence) visible, and wakes the reader.
  void publish(std::int64_t sequence);

  // ---- The trainer's side. One reader.

  bool is_published(std::int64_t sequence) const;
  WakeUp& published() { return shared_->published; }
  // The published slot at `sequence`. InternalError: the slot is damaged.
  BatchView view(std::int64_t sequence) const;
  // Releases `sequence`, the oldest that is not released.
  void release(std::int64_t sequence);

 private:
  struct Shared {
    alignas(kCacheLine) std::atomic<std::int64_t> released{0};  // released positions
    alignas(kCacheLine) std::atomic<std::int64_t> next{0};      // to be published
    alignas(kCacheLine) WakeUp freed;
    alignas(kCacheLine) WakeUp published;
  };
  struct SlotHead {
    std::atomic<std::int64_t> published;  // position + 1 of what the slot holds
    SlotHeader header;
  };

  SlotHead& head(std::int64_t sequence) const;

  ArenaShape shape_;
  SharedObject<Shared> shared_;
  SharedMemory memory_;
};

}  // namespace odb
