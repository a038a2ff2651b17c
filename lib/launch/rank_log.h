// The file of a rank's lines below `launch --log-dir`: FOLDER/rank-00000.log. Lines of earlier
// starts stay; each start begins with a header line.
#pragma once

#include <string>
#include <vector>

#include "base/descriptor.h"

namespace odb {

// Opened for appending, after the header "==== 2026-11-30 08:25:00 odb-trainer launch: rank 0 of 2:
// train ...". Creates the folder. FileError: it cannot be written.
Descriptor open_rank_log(const std::string& folder, int rank, int ranks,
                         const std::vector<std::string>& arguments);

}  // namespace odb
