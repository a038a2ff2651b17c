// The files of a model folder beside config.json and weights: tokenizer, chat template, generation
// settings. No weight depends on them, but a usable model needs them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "model/files/config.h"

namespace odb {

// Copies those that `from` has into the folder `to`, durably.
void copy_auxiliary_files(FileSystem& files, const std::string& from, const std::string& to);
// The same for a model whose tokenizer is another one: the generation settings are those of
// `model`, all other files those of `tokenizer`, a folder or a tokenizer.json of any name.
void copy_auxiliary_files(FileSystem& files, const std::string& model, const std::string& tokenizer,
                          const std::string& to);

// Where transformers ends an answer: at eos_token_id (one or several) of the folder's
// generation_config.json, or without that file of config.json. FileError when it cannot be read or
// names ids beyond the vocabulary.
std::vector<std::int64_t> read_end_tokens(FileSystem& files, const std::string& folder,
                                          const ModelConfig& config);

}  // namespace odb
