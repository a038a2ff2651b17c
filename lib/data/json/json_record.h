// JSON text -> a parsed document, with the errors told in the reader's words.
//
// The whole text is checked: UTF-8, syntax, numbers, nesting (1,024 levels). Rules where parsers
// differ: a raw control character in a string is refused; of a key that comes twice the last one
// counts; half of a surrogate pair becomes U+FFFD; a number beyond 64 bits and a byte order mark
// are refused.
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
  // `text` lies in memory of which 64 bytes behind its end may be read (RecordBuffer); lone
  // surrogates are replaced in place. Throws DataError with the reason, without a place.
  JsonValue parse(std::span<char> text);
  // Copies `text` first.
  JsonValue parse_copy(std::string_view text);

 private:
  simdjson::dom::parser parser_;
  std::string copy_;
};

// Writes \ufffd over every \uXXXX that is half of a surrogate pair; returns how many there were.
std::size_t replace_lone_surrogates(std::span<char> json);

// "an object", "a string", ...: what a message says was found.
std::string_view kind_of(const JsonValue& json);

// What stands under the key, of one that comes twice the last; nullopt when it does not come. May
// be null.
std::optional<JsonValue> value_of(const simdjson::dom::object& object, std::string_view key);

// The string, or nullopt when it is something else.
std::optional<std::string_view> as_string(const JsonValue& json);

}  // namespace odb
