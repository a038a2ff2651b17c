// The rotary embedding's part of config.json, in both spellings: rope_theta and rope_scaling (with
// "type" or "rope_type"), and the newer rope_parameters that holds the base as well.
#pragma once

#include <cstdint>

#include "base/json_reader.h"
#include "model/files/config.h"

namespace odb {

// `max_length` is max_position_embeddings. Throws FileError for an unknown type, a missing value,
// or two values that disagree.
RopeConfig read_rope_config(const JsonObjectReader& config, std::int64_t max_length);

}  // namespace odb
