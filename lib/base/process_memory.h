// What /proc reports about the memory of a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "base/files.h"

namespace odb {

// Pages that no other process shares, in bytes. Shared mappings without a file are left out: they
// may look unshared only because no other process has touched them yet.
struct PrivateMemory {
  std::uint64_t clean = 0;    // as they are in a file
  std::uint64_t written = 0;  // by this process

  std::uint64_t total() const { return clean + written; }
};

// Of a process at this moment; nothing where /proc/PID/smaps cannot be read.
PrivateMemory private_memory(FileSystem& files, pid_t process);
// The text of /proc/PID/smaps.
PrivateMemory parse_private_memory(std::string_view smaps);

// The peak memory of this process, bytes (VmHWM of /proc/self/status); 0: unknown.
std::int64_t peak_memory_bytes();

}  // namespace odb
