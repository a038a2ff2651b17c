// Tokenizers for tests: the families of golden/families.json, and small ones made to be changed.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "tokenizer/tokenizer.h"

namespace odb {

// A file below tests/.
std::string test_file(const std::string& path);
nlohmann::json read_json(const std::string& path);

// The whole tokenizer.json of one family of golden/families.json.
nlohmann::json family_file(const nlohmann::json& families, const std::string& name);

// A complete small tokenizer.json with the Qwen2 pattern: 256 bytes, the tokens "ab" and "abc" with
// their merges, and one control token "<|end|>". Tests break it one field at a time.
nlohmann::json small_file();

Tokenizer parse(const nlohmann::json& file);

}  // namespace odb
