// Small helpers on texts and files for many tests.
#pragma once

#include <cstddef>
#include <string>

namespace odb {

// How often `part` occurs in `text`, overlaps counted.
std::size_t count_of(const std::string& text, const std::string& part);

// All bytes of a file, also of one in /proc; empty when it cannot be read.
std::string content_of(const std::string& path);

}  // namespace odb
