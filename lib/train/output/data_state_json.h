// data/rank-00000.json of a checkpoint: the data position of a rank (batching/state.h), readable by
// people and programs.
//
// Consecutive views are written as ranges: [3, [5, 9]] is 3, 5, 6, 7, 8, 9. A window of 1,024 views
// takes under 64 KiB for any views below 2^35.
#pragma once

#include <string>
#include <string_view>

#include "batching/state.h"

namespace odb {

// Equal states give equal bytes.
std::string to_json(const OwnedState& state);
// FileError beginning with `where`: not a data state, damaged, or another version.
OwnedState parse_data_state(std::string_view text, const std::string& where);

}  // namespace odb
