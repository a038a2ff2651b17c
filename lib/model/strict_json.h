// JSON files of a model folder, read without guessing: a key that comes twice is refused, and each
// value is asked for by name and kind, so that a message can tell file, key, found and wanted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace odb {

using Json = nlohmann::ordered_json;

// Parses an object. Throws FileError, beginning with `where`, when `text` is no JSON, no object, or
// names a key twice on any level.
Json parse_strict_object(std::string_view text, const std::string& where);

// How a value is told in a message: short values as they are written, others by their kind.
std::string found_json(const Json& value);

// Values of one object by key. `where` is its place: "DIR/config.json: rope_scaling". The object
// must outlive the reader. A null counts as a missing key. All throw FileError for a wrong kind or
// range.
class JsonObjectReader {
 public:
  JsonObjectReader(const Json& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  bool has(const std::string& key) const { return find(key) != nullptr; }
  const Json* find(const std::string& key) const;  // null when missing or null
  bool is_null(const std::string& key) const {     // there, and null
    return object_.contains(key) && object_.at(key).is_null();
  }

  // Whole numbers in least..most.
  std::int64_t integer(const std::string& key, std::int64_t least, std::int64_t most) const;
  std::optional<std::int64_t> integer_or_none(const std::string& key, std::int64_t least,
                                              std::int64_t most) const;
  // Finite numbers above 0.
  double positive(const std::string& key) const;
  std::optional<double> positive_or_none(const std::string& key) const;

  bool boolean(const std::string& key, bool fallback) const;
  std::optional<std::string> text_or_none(const std::string& key) const;
  std::optional<JsonObjectReader> object_or_none(const std::string& key) const;

  [[noreturn]] void refuse(const std::string& key, const std::string& wanted) const;

 private:
  const Json& object_;
  std::string where_;
};

}  // namespace odb
