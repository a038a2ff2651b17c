// A progress line on standard error for long passes; none if that is not a terminal.
#pragma once

#include <string>
#include <string_view>

#include "base/progress_callback.h"

namespace odb {

// "indexing [#####...............]  25 %", `width` characters between the brackets.
std::string progress_line(std::string_view what, std::uint64_t done, std::uint64_t total,
                          std::size_t width = 30);

// Draws the line at each whole percent, and clears it when done equals total. Empty (check before
// the call) if standard error is not a terminal.
ProgressCallback terminal_progress(std::string what);

}  // namespace odb
