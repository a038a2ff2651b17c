// The starts of a pipeline's newest rounds, in shared memory: what a collate that takes over begins
// from, and what the trainer copies into its data state.
//
// A ring of D + 1 entries, D the depth of the arena: a round whose slots the trainer may still hold
// is never overwritten, since the rounds behind it need slots too. Rounds are counted by their
// ordinal: from 0 at the start of the pipeline, through epochs, equal on all ranks.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "batching/options.h"
#include "batching/state.h"
#include "data/processes/shared_memory.h"

namespace odb {

struct SavedRound {
  std::int64_t ordinal = 0;
  // Arena position of the round's first slot. Negative when the pipeline began inside the round:
  // so many slots were taken before.
  std::int64_t first_position = 0;
  RoundStart start;
};

// The most bytes that the start of a round takes under these options over `data_size` views.
std::size_t most_round_bytes(const BatchingOptions& resolved, std::int64_t data_size);

class RoundLog {
 public:
  RoundLog(const std::string& name, std::int64_t depth, std::size_t most_bytes);

  // By collate, before it enters the round. Does nothing when the round is there already: a replay
  // leaves it to its readers. InternalError: it does not fit.
  void save(const SavedRound& round);

  // The newest ordinal that was saved; -1: none.
  std::int64_t newest() const { return shared_->newest.load(std::memory_order_acquire) - 1; }

  void clear();  // back to nothing saved; nobody may use it meanwhile

  // Any process. InternalError when the entry was overwritten or damaged.
  SavedRound load(std::int64_t ordinal) const;

 private:
  struct Shared {
    std::atomic<std::int64_t> newest{0};  // ordinal + 1
  };
  struct Entry {
    std::atomic<std::int64_t> ordinal;  // + 1; 0: being written, or never was
    std::int64_t first_position;
    std::uint64_t bytes;  // of the serialised start behind it
  };

  Entry& entry(std::int64_t ordinal) const;
  void write(const SavedRound& round, Entry& into) const;
  char* text(std::int64_t ordinal) const;

  std::int64_t entries_;
  std::size_t entry_bytes_;
  SharedObject<Shared> shared_;
  SharedMemory memory_;
};

}  // namespace odb
