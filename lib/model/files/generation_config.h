// generation_config.json of a model folder; only its end tokens are used. Chat models often name
// their second end token nowhere else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "model/files/config.h"

namespace odb {

// The end tokens of config.json, then those of the folder's generation_config.json (eos_token_id,
// one or several) if that file exists; no duplicates. FileError when it cannot be read or names ids
// beyond the vocabulary.
std::vector<std::int64_t> read_end_tokens(FileSystem& files, const std::string& folder,
                                          const ModelConfig& config);

}  // namespace odb
