// The fields of a component of a tokenizer file (normalizer, pre-tokenizer, ...).
#pragma once

#include <string>

#include "base/json_reader.h"

namespace odb {

using ComponentFields = BasicJsonObjectReader<SortedJson>;

// `where` is e.g. "DIR/tokenizer.json: pre_tokenizer". DataError for what is missing or wrong.
inline ComponentFields fields(const SortedJson& component, const std::string& where) {
  return {component, where, ExitCode::data};
}

// Refuses what is no key of ByteLevel, as pre-tokenizer, post-processor or decoder.
inline void check_byte_level_keys(const SortedJson& component, const std::string& where) {
  fields(component, where).allow_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
}

}  // namespace odb
