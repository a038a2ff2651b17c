// Whether the kernel has just killed a process for want of memory, as far as it tells.
//
// A SIGKILL does not say who sent it; but the kernel counts what it kills, for each control group
// and for the whole machine. A rise of the count explains a death only if it is fresh: a process
// of somebody else that was killed an hour ago says nothing about one that dies now.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/files.h"

namespace odb {

// How many processes the kernel has killed for want of memory: those of this process's control
// group, whose limit or the machine's is what ran out (memory.events of version 2,
// memory.oom_control of version 1); where the group has no count, those of the machine
// (/proc/vmstat). What cannot be read counts 0. Only a rise means something.
std::uint64_t count_memory_kills(FileSystem& files);

class MemoryKills {
 public:
  using Clock = std::chrono::steady_clock;

  // A kill stays fresh for once to twice this: a process takes its time to die after it was
  // counted.
  static constexpr std::chrono::seconds kFresh{10};

  // `files` must outlive it.
  explicit MemoryKills(FileSystem& files, Clock::time_point now = Clock::now());

  // To be called now and then, at least every few seconds.
  void forget_old(Clock::time_point now = Clock::now());

  // Whether a fresh kill is there that explains the death of a child; each explains one.
  bool explain_death();

 private:
  FileSystem& files_;
  Clock::time_point counted_at_;
  std::uint64_t newest_;     // as counted then
  std::uint64_t explained_;  // kills up to here are old, or have explained a death
};

}  // namespace odb
