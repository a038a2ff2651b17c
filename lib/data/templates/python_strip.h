// Python's str.strip(): which templates' `trim` is.
#pragma once

#include <string_view>

namespace odb {

// `text` (UTF-8) without the characters at both ends that Python's str.isspace holds for.
std::string_view python_strip(std::string_view text);

}  // namespace odb
