// Reading JSON files of a known form, strictly: a repeated key is refused, and each value is
// requested by name and kind, so that a message can name file, key, found and expected value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/failure.h"

namespace odb {

using Json = nlohmann::ordered_json;  // keeps the order of keys, but searches all for one
using SortedJson = nlohmann::json;    // finds a key in a sorted tree

// Parses an object. Throws FileError that begins with `where` when `text` is not JSON, not an
// object, or repeats a key on any level.
Json parse_strict_object(std::string_view text, const std::string& where);
// The same for objects of many keys (tensors of a header): reading n keys takes n log n steps, not
// n * n.
SortedJson parse_strict_table(std::string_view text, const std::string& where);

// Adds a key that `object` does not have yet, without searching it.
void append(Json& object, std::string key, Json value);

// How a value is printed in a message: short values as they are written, others by their kind.
template <typename AnyJson>
std::string found_json(const AnyJson& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  constexpr std::size_t kMax = 80;
  std::string text = value.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
  if (text.size() > kMax) text = text.substr(0, kMax) + "...";
  return text;
}

// Values of one object by key. `where` is its place: "DIR/config.json: rope_scaling". The object
// must outlive the reader. A null counts as a missing key. All throw an Error of the reader's exit
// code (FileError, or DataError for tokenizer and data files) for a missing key, a wrong kind or a
// wrong range.
template <typename AnyJson>
class BasicJsonObjectReader {
 public:
  // Refuses a value that is not an object.
  BasicJsonObjectReader(const AnyJson& object, std::string where, ExitCode code = ExitCode::files);

  const std::string& where() const { return where_; }
  bool has(const std::string& key) const { return find(key) != nullptr; }
  const AnyJson* find(const std::string& key) const;  // null when missing or null
  bool is_null(const std::string& key) const {        // there, and null
    return object_.contains(key) && object_.at(key).is_null();
  }

  // Whole numbers in least..most.
  std::int64_t integer(const std::string& key, std::int64_t least, std::int64_t most) const;
  std::optional<std::int64_t> integer_or_none(const std::string& key, std::int64_t least,
                                              std::int64_t most) const;
  // One number, or a list of them; empty when there is none.
  std::vector<std::int64_t> integers(const std::string& key, std::int64_t least,
                                     std::int64_t most) const;
  // Finite numbers above 0.
  double positive(const std::string& key) const;
  std::optional<double> positive_or_none(const std::string& key) const;

  bool boolean(const std::string& key) const;
  bool boolean(const std::string& key, bool fallback) const;
  std::string text(const std::string& key) const;
  std::optional<std::string> text_or_none(const std::string& key) const;
  const AnyJson& list(const std::string& key) const;
  const AnyJson& value(const std::string& key) const;
  // Refuses all keys but these.
  void allow_only(std::initializer_list<std::string_view> keys) const;
  // Refuses another "version" than `expected`, the one that this program reads.
  void require_version(std::int64_t expected) const;
  std::optional<BasicJsonObjectReader> object_or_none(const std::string& key) const;

  [[noreturn]] void refuse(const std::string& key, const std::string& expected) const;

 private:
  const AnyJson& object_;
  std::string where_;
  ExitCode code_;
};
using JsonObjectReader = BasicJsonObjectReader<Json>;

}  // namespace odb
