// A pipeline's newest rounds, in shared memory: a new collate begins from them, and the trainer
// copies them into its data state. Of each round, in the order in which they are written:
//   - its start, before the round is entered
//   - the record of its refill, before the round's first all-reduce
//   - its checksum, once all ranks' totals are known and before its first slot is published
//
// A ring of D + 1 entries, where D is the depth of the arena: a round whose slots the trainer may
// still hold is never overwritten, because the rounds after it need slots too. Rounds are numbered
// by their ordinal: from 0 at the start of the pipeline, through all epochs, equal on all ranks.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "batching/options.h"
#include "batching/refill_record.h"
#include "batching/state.h"
#include "data/loader/shared/shared_memory.h"

namespace odb {

struct SavedRound {
  std::int64_t ordinal = 0;
  // Arena position of the round's first slot. -n: the pipeline began inside the round, and n slots
  // were taken before.
  std::int64_t first_sequence = 0;
  RoundStart start;
};

// The maximum bytes of a round's start under these options over `data_size` views.
std::size_t max_round_bytes(const BatchingOptions& resolved, std::int64_t data_size);

// The maximum bytes of the record of a refill that leaves out at most `max_left_out` rows.
std::size_t max_refill_bytes(const BatchingOptions& resolved, std::int64_t data_size,
                             std::int64_t max_left_out);

class RoundLog {
 public:
  // Room for `max_start_bytes` and `max_refill_bytes` in each entry; only used pages take memory.
  RoundLog(const std::string& name, std::int64_t depth, std::size_t max_start_bytes,
           std::size_t max_refill_bytes);

  // By collate, before it enters the round. Does nothing when the round is already saved: a replay
  // must not change what readers may use. InternalError: it does not fit.
  void save(const SavedRound& round);

  // By collate, for the round that was saved last or is replayed. Replaces an earlier record and
  // removes the checksum. InternalError: it does not fit.
  void save_refill(std::int64_t ordinal, const RefillRecord& record);
  // Empty: this round's refill was never completed. InternalError: the entry was overwritten.
  // FileError: it is damaged.
  std::optional<RefillRecord> load_refill(std::int64_t ordinal) const;

  // By collate. The checksum of the round as formed; empty: none is saved.
  void save_checksum(std::int64_t ordinal, std::uint64_t checksum);
  std::optional<std::uint64_t> load_checksum(std::int64_t ordinal) const;

  // The newest saved ordinal; -1: none.
  std::int64_t newest() const { return shared_->newest.load(std::memory_order_acquire) - 1; }

  void clear();  // removes all rounds; no process may use the log meanwhile

  // Any process. InternalError: the entry was overwritten. FileError: it is damaged.
  SavedRound load(std::int64_t ordinal) const;

 private:
  struct Shared {
    std::atomic<std::int64_t> newest{0};  // ordinal + 1
  };
  struct Entry {
    std::atomic<std::int64_t> ordinal;  // + 1; 0: being written, or never written
    std::int64_t first_sequence;
    std::uint64_t start_bytes;                // of the serialized start, which follows the entry
    std::atomic<std::uint64_t> refill_bytes;  // of the record, after the start's room; 0: none
    std::atomic<std::uint32_t> has_checksum;
    std::uint64_t checksum;
  };

  Entry& entry(std::int64_t ordinal) const;
  // The entry of a round that is in the log. InternalError: it was overwritten.
  Entry& saved_entry(std::int64_t ordinal) const;
  void write(const SavedRound& round, Entry& into) const;
  char* start_text(std::int64_t ordinal) const;
  char* refill_text(std::int64_t ordinal) const;

  std::int64_t entries_;
  std::size_t max_start_bytes_;
  std::size_t max_refill_bytes_;
  std::size_t entry_bytes_;
  SharedObject<Shared> shared_;
  SharedMemory memory_;
};

}  // namespace odb
