// How many processes the kernel has killed for want of memory, as far as it tells: in this
// process's control group and in the whole machine. Only a rise of the number means something.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/files.h"

namespace odb {

// Reads memory.events (control groups version 2), memory.oom_control (version 1) and /proc/vmstat.
// What cannot be read counts 0.
std::uint64_t count_memory_kills(FileSystem& files);

// The number behind the word "oom_kill" at the start of a line; 0 when there is none.
std::uint64_t parse_memory_kills(std::string_view text);

}  // namespace odb
