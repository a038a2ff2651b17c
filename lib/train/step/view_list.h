// Views as a message names them: "3, 5, 9 and 120 more".
#pragma once

#include <span>
#include <string>

#include "batching/item.h"

namespace odb {

// The first ten, then how many more there are; "none" for none.
std::string view_list(std::span<const ViewId> views);

}  // namespace odb
