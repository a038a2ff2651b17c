// data/rank-00000.json of a checkpoint: the data position of a rank (batching/state.h) for people
// and programs.
//
// Views are written as ranges where they run on: [3, [5, 9]] is 3, 5, 6, 7, 8, 9. A window of 1,024
// takes under 64 KiB, whatever the views, below 2^35 samples.
#pragma once

#include <string>
#include <string_view>

#include "batching/state.h"

namespace odb {

// Equal states give equal bytes.
std::string to_json(const OwnedState& state);
// FileError beginning with `where`: no such state, damaged, or of another version.
OwnedState parse_data_state(std::string_view text, const std::string& where);

}  // namespace odb
