// The values that the processes of one loader share besides rings and arena: what each process
// works on, failures, and what a new collate must know of its predecessor.
//
// Each value has one writer at a time, named below. All lie in shared memory and start as zeros.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "base/failure.h"
#include "batching/item.h"
#include "data/loader/shared/shared_memory.h"
#include "data/loader/shared/wake_up.h"

namespace odb {

inline constexpr int kMaxWorkers = 64;

// Why a loader cannot continue. One process writes; `set` is stored last.
struct SharedFailure {
  std::atomic<std::uint32_t> set{0};
  PlainFailure value;

  void write(const Failure& failure) {
    if (set.load(std::memory_order_acquire) != 0) return;
    value = to_plain(failure);
    set.store(1, std::memory_order_release);
  }
  void throw_if_set() const {
    if (set.load(std::memory_order_acquire) != 0) throw Error(from_plain(value));
  }
};

// The sample that a process is preparing, so that its death can be blamed on the sample. Written by
// the process, read by the fork server once it is dead. `suspect` and `crashes` are written by the
// fork server and read by the process.
struct BuilderState {
  std::atomic<std::int32_t> process{0};   // pid; by the fork server; 0: none
  std::atomic<std::int64_t> building{0};  // view + 1; 0: none
  std::atomic<std::int64_t> epoch{0};     // of it
  std::atomic<std::int64_t> built{0};     // samples, over all lives
  std::atomic<std::int64_t> beats{0};     // by a worker: rises with every poll of its waits
  std::atomic<std::int64_t> suspect{0};   // view + 1 that its last life crashed on
  std::atomic<std::int64_t> suspect_epoch{0};
  std::atomic<std::int32_t> crashes{0};  // in a row, on the suspect
};

// Samples that reached the limit of crashes. Only grows; written by collate.
class CrashedSamples {
 public:
  static constexpr std::uint32_t kMax = 4096;

  struct Entry {
    std::int64_t epoch = 0;
    ViewId view = 0;
  };

  bool has(std::int64_t epoch, ViewId view) const {
    for (std::uint32_t i = 0; i < size(); ++i)
      if (entries_[i].epoch == epoch && entries_[i].view == view) return true;
    return false;
  }
  // DataError: more than kMax samples.
  void add(std::int64_t epoch, ViewId view) {
    if (has(epoch, view)) return;
    const std::uint32_t count = size();
    if (count == kMax)
      throw DataError(
          "{} samples crashed the process that prepared them; check the data with odb-trainer "
          "inspect data",
          kMax);
    entries_[count] = {.epoch = epoch, .view = view};
    count_.store(count + 1, std::memory_order_release);
  }
  std::uint32_t size() const { return count_.load(std::memory_order_acquire); }
  const Entry& operator[](std::uint32_t index) const { return entries_[index]; }

 private:
  std::atomic<std::uint32_t> count_{0};
  Entry entries_[kMax];
};

// What collate is doing; the heartbeat shows it to other ranks.
enum class Phase : std::uint32_t {
  starting,
  waiting_for_start,
  joining,
  planning,
  filling,
  aligning,
  waiting_for_slot,
  ended,
  failed
};
const char* name(Phase phase);
// Whether collate may show no sign of life in this phase, for any time: it waits for other ranks or
// reads the whole data once.
bool may_be_silent(Phase phase);

struct LoaderControl {
  std::atomic<std::uint64_t> request_generation{0};  // by collate: rises with every life and replay
  std::atomic<std::int64_t> joined{0};               // by collate: side group generation + 1
  std::atomic<Phase> phase{Phase::starting};         // by collate
  std::atomic<std::int64_t> progress{0};             // by collate: rises with all work done
  std::atomic<std::int64_t> beats{0};           // by collate: rises with samples and polls of waits
  std::atomic<std::int64_t> aligned_rounds{0};  // by collate: rounds aligned with other ranks
  std::atomic<std::int64_t> aligning_nanoseconds{
      0};                                        // by collate: their time, with waits for peers
  std::atomic<std::int32_t> collate_process{0};  // by the fork server
  std::atomic<std::int64_t> deaths{0};           // by the fork server: children that died
  SharedFailure collate_failure;                 // by collate
  SharedFailure server_failure;                  // by the fork server
  CrashedSamples crashed;
  BuilderState builders[kMaxWorkers];  // the workers; without workers [0] is collate itself
};

}  // namespace odb
