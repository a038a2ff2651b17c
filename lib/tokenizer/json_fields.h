// Reading the small components of a tokenizer file (normalizer, pre-tokenizer, ...): fields of a
// JSON object with a name for messages. Every function throws DataError beginning with `where`.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace odb {

// The text of `object`'s "type". `where` is e.g. "DIR/tokenizer.json: pre_tokenizer".
std::string component_type(const nlohmann::json& object, const std::string& where);

// Refuses all keys but the known ones.
void check_keys(const nlohmann::json& object, std::initializer_list<std::string_view> known,
                const std::string& where);

// The same for ByteLevel, as pre-tokenizer, post-processor or decoder.
void check_byte_level_keys(const nlohmann::json& object, const std::string& where);

const nlohmann::json& required_field(const nlohmann::json& object, const char* name,
                                     const std::string& where);
std::string required_text(const nlohmann::json& object, const char* name, const std::string& where);
bool required_flag(const nlohmann::json& object, const char* name, const std::string& where);
// Absent or null: `otherwise`.
bool optional_flag(const nlohmann::json& object, const char* name, bool otherwise,
                   const std::string& where);
// A list; its elements are to be named where + "[i]".
const nlohmann::json& required_list(const nlohmann::json& object, const char* name,
                                    const std::string& where);

}  // namespace odb
