// What the trainer sends to collate after the fork: where to begin, and the address of the store.
// Written once; a new collate reads it again.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "batching/sampler.h"
#include "batching/state.h"
#include "data/loader/shared/shared_memory.h"
#include "data/loader/shared/wake_up.h"

namespace odb {

struct PipelineStart {
  DataState state;         // where the epoch continues
  LeftoverList leftovers;  // that positions in `state` refer to; null: none
  // For the factory of the Membership in the collate process: the store of this run. Not
  // interpreted here.
  std::string store_address;
};

class StartMessage {
 public:
  // Room for a state of `max_bytes` and `max_leftovers` ids.
  StartMessage(const std::string& name, std::size_t max_bytes, std::int64_t max_leftovers);

  // Call once. UsageError: it does not fit (a state of other data).
  void write(const PipelineStart& start);

  void clear();  // removes what was written

  bool is_written() const { return shared_->written.load(std::memory_order_acquire) != 0; }
  WakeUp& written() { return shared_->wake_up; }
  PipelineStart read() const;

 private:
  static constexpr std::size_t kMaxAddress = 1000;
  struct Shared {
    std::atomic<std::uint32_t> written{0};
    WakeUp wake_up;
    std::uint64_t state_bytes = 0;
    std::uint64_t leftovers = 0;
    char store_address[kMaxAddress + 1] = {};
  };

  SharedObject<Shared> shared_;
  SharedMemory state_;
  SharedMemory leftovers_;
};

}  // namespace odb
