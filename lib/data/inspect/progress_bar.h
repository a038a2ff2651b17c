// A progress line on standard error for passes that take long; nothing when that is no terminal.
#pragma once

#include <string>
#include <string_view>

#include "data/records/index_builder.h"

namespace odb {

// "indexing [#####...............]  25 %", `width` letters between the brackets.
std::string progress_line(std::string_view what, std::uint64_t done, std::uint64_t total,
                          std::size_t width = 30);

// Draws the line at each whole percent, and clears it when done equals total. Empty (call it only
// if it is set) when standard error is no terminal.
TellProgress terminal_progress(std::string what);

}  // namespace odb
