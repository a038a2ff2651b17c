// The version that the JSON files of a checkpoint begin with.
#pragma once

#include <cstdint>

#include "model/strict_json.h"

namespace odb {

// FileError unless the object's "version" is `wanted`, the one that this program reads.
void require_version(const JsonObjectReader& object, std::int64_t wanted);

}  // namespace odb
