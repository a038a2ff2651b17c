// Python's str.strip(), the filter `trim` of templates.
#pragma once

#include <string_view>

namespace odb {

// `text` (UTF-8) without the characters at both ends for which Python's str.isspace is true.
std::string_view python_strip(std::string_view text);

}  // namespace odb
