// The version at the beginning of a checkpoint's JSON files.
#pragma once

#include <cstdint>

#include "base/strict_json.h"

namespace odb {

// FileError unless the object's "version" is `expected`, the one that this program reads.
void require_version(const JsonObjectReader& object, std::int64_t expected);

}  // namespace odb
