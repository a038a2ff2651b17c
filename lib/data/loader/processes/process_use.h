// Resource use of a process: processor time, and memory that no other process shares.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"

namespace odb {

struct ProcessUse {
  std::string role;
  pid_t process = 0;
  double processor_seconds = 0;
  std::uint64_t private_bytes = 0;  // pages that no other process shares (base/process_memory.h)
};

// From /proc; nothing when the process is gone.
std::optional<ProcessUse> process_use(const std::string& role, pid_t process);

// Whether the process is currently stopped (SIGSTOP).
bool is_stopped(FileSystem& files, pid_t process);
// Whether it waits in the kernel and cannot be interrupted ('D'): usually for storage.
bool waits_for_storage(FileSystem& files, pid_t process);

// ---- Parsers.

// Clock ticks in user and system mode, of /proc/PID/stat.
std::optional<std::uint64_t> parse_processor_ticks(std::string_view stat);
// The letter of the process's state there: 'R' running, 'T' stopped, ...
std::optional<char> parse_process_state(std::string_view stat);

}  // namespace odb
