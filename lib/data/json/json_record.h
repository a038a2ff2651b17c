// JSON text -> a parsed document, with errors that users can read.
//
// The whole text is checked: UTF-8, syntax, numbers, nesting (1,024 levels). Where parsers differ:
// a raw control character in a string is refused; of duplicate keys the last one counts; half of a
// surrogate pair becomes U+FFFD; a number beyond 64 bits and a byte order mark are refused.
#pragma once

#include <simdjson.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace odb {

using JsonValue = simdjson::dom::element;

// Parses one text after another. What it returns is valid until the next call.
class JsonParser {
 public:
  // The 64 bytes after `text` must be readable (RecordBuffer). Lone surrogates are replaced in
  // place. Throws DataError with the reason, without a place.
  JsonValue parse(std::span<char> text);
  // Copies `text` first.
  JsonValue parse_copy(std::string_view text);

 private:
  simdjson::dom::parser parser_;
  std::string copy_;
};

// Writes \ufffd over every \uXXXX that is half of a surrogate pair; returns how many there were.
std::size_t replace_lone_surrogates(std::span<char> json);

// Whether a number of the text is not zero and becomes zero as a double, as 1e-400 does. REQUIRES:
// the text was parsed without an error.
bool has_underflow(std::string_view json);

// Whether it is a list of ones.
bool is_all_ones(const JsonValue& json);

// "an object", "a string", ...: what was found, for messages.
std::string_view kind_of(const JsonValue& json);

// The value of the key, of duplicate keys the last one; nullopt if it is absent. May be null.
std::optional<JsonValue> value_of(const simdjson::dom::object& object, std::string_view key);

// The string, or nullopt when it is something else.
std::optional<std::string_view> as_string(const JsonValue& json);

}  // namespace odb
