// Reads a text that an option names.
#pragma once

#include <cstddef>
#include <string>

namespace odb {

// All bytes of the file, pipe or device at `path`, at most `max_bytes`. Blocks until its end, for
// a pipe until the writer's. UsageError naming `option` and `path`: it cannot be read, is longer,
// or holds a byte 0, which no text does. (FileSystem::read_all is for files of a run, which
// have a size.)
std::string read_text(const std::string& option, const std::string& path, std::size_t max_bytes);

}  // namespace odb
