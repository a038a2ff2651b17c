// Whether the kernel has recently killed a process because memory ran out.
//
// A SIGKILL does not show its sender, but the kernel counts its out-of-memory kills per control
// group and for the whole machine. A rise of the count explains a death only if it is fresh: an
// unrelated process that was killed an hour ago does not explain a death now.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/files.h"

namespace odb {

// The kernel's number of out-of-memory kills in this process's control group, caused by the limit
// of the group or of the machine (memory.events of version 2, memory.oom_control of version 1). If
// the group has no count, the machine's (/proc/vmstat). 0 if it cannot be read. Only a rise has
// meaning.
std::uint64_t count_memory_kills(FileSystem& files);

class MemoryKills {
 public:
  using Clock = std::chrono::steady_clock;

  // A kill stays fresh for one to two times this long, because a process may die some time after it
  // was counted.
  static constexpr std::chrono::seconds kFresh{10};

  // `files` must outlive it.
  explicit MemoryKills(FileSystem& files, Clock::time_point now = Clock::now());

  // Must be called at least every few seconds.
  void forget_old(Clock::time_point now = Clock::now());

  // Whether a fresh kill explains the death of a child; each kill explains one death.
  bool explain_death();

 private:
  FileSystem& files_;
  Clock::time_point counted_at_;
  std::uint64_t newest_;     // the count at that time
  std::uint64_t explained_;  // kills up to here are old, or have explained a death
};

}  // namespace odb
