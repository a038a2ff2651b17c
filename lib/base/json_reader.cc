#include "base/json_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"

namespace odb {
namespace {

// The library's message without its "[json.exception...] parse error at line 1, column 2: ".
std::string reason_of(const Json::exception& error) {
  const std::string_view whole = error.what();
  const std::size_t start = whole.find("] ");
  return std::string(start == std::string_view::npos ? whole : whole.substr(start + 2));
}

// Walks a text and keeps only the keys of the objects that are open. (A parser with a callback
// would search an object again for each value that it inserts.)
class KeyWatch : public nlohmann::json_sax<Json> {
 public:
  explicit KeyWatch(const std::string& where) : where_(where) {}

  bool start_object(std::size_t) override {
    open_objects_.emplace_back();
    return true;
  }
  bool end_object() override {
    open_objects_.pop_back();
    return true;
  }
  bool key(std::string& name) override {
    if (!open_objects_.back().insert(name).second)
      throw FileError("{}: the key {} comes twice", where_, found_json(Json(name)));
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& error) override {
    throw FileError("{}: malformed JSON: {}", where_, reason_of(error));
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }

 private:
  const std::string& where_;
  std::vector<std::set<std::string>> open_objects_;
};

template <typename AnyJson>
AnyJson parse_strictly(std::string_view text, const std::string& where) {
  // The parser takes a byte 0 for the end of its input.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw FileError("{}: malformed JSON: found a byte 0 at {}", where, zero);
  KeyWatch watch(where);
  Json::sax_parse(text.begin(), text.end(), &watch);
  AnyJson json = AnyJson::parse(text.begin(), text.end());
  if (!json.is_object())
    throw FileError("{}: found {}, expected a JSON object", where, found_json(json));
  return json;
}

[[noreturn]] void fail(ExitCode code, const std::string& message) {
  if (code == ExitCode::data) throw DataError("{}", message);
  throw FileError("{}", message);
}

}  // namespace

Json parse_strict_object(std::string_view text, const std::string& where) {
  return parse_strictly<Json>(text, where);
}

SortedJson parse_strict_table(std::string_view text, const std::string& where) {
  return parse_strictly<SortedJson>(text, where);
}

void append(Json& object, std::string key, Json value) {
  object.get_ref<Json::object_t&>().push_back({std::move(key), std::move(value)});
}

template <typename AnyJson>
BasicJsonObjectReader<AnyJson>::BasicJsonObjectReader(const AnyJson& object, std::string where,
                                                      ExitCode code)
    : object_(object), where_(std::move(where)), code_(code) {
  if (!object.is_object())
    fail(code_, fmt::format("{}: found {}, expected an object", where_, found_json(object)));
}

template <typename AnyJson>
const AnyJson* BasicJsonObjectReader<AnyJson>::find(const std::string& key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

template <typename AnyJson>
void BasicJsonObjectReader<AnyJson>::refuse(const std::string& key,
                                            const std::string& expected) const {
  const AnyJson* value = find(key);
  fail(code_, fmt::format("{}: {}: found {}, expected {}", where_, key,
                          value ? found_json(*value) : "nothing", expected));
}

template <typename AnyJson>
std::optional<std::int64_t> BasicJsonObjectReader<AnyJson>::integer_or_none(
    const std::string& key, std::int64_t least, std::int64_t most) const {
  const AnyJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() ||
                     value->template get<std::uint64_t>() <= static_cast<std::uint64_t>(most));
  if (!fits || value->template get<std::int64_t>() < least ||
      value->template get<std::int64_t>() > most)
    refuse(key, fmt::format("a whole number from {} to {}", least, most));
  return value->template get<std::int64_t>();
}

template <typename AnyJson>
std::int64_t BasicJsonObjectReader<AnyJson>::integer(const std::string& key, std::int64_t least,
                                                     std::int64_t most) const {
  const auto value = integer_or_none(key, least, most);
  if (!value) refuse(key, fmt::format("a whole number from {} to {}", least, most));
  return *value;
}

template <typename AnyJson>
std::vector<std::int64_t> BasicJsonObjectReader<AnyJson>::integers(const std::string& key,
                                                                   std::int64_t least,
                                                                   std::int64_t most) const {
  const AnyJson* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) return {integer(key, least, most)};
  std::vector<std::int64_t> numbers;
  for (const AnyJson& number : *value) {
    if (number.is_structured()) refuse(key, "a whole number or a list of them");
    const AnyJson alone = {{key, number}};
    numbers.push_back(BasicJsonObjectReader(alone, where_, code_).integer(key, least, most));
  }
  return numbers;
}

template <typename AnyJson>
std::optional<double> BasicJsonObjectReader<AnyJson>::positive_or_none(
    const std::string& key) const {
  const AnyJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  const double number = value->is_number() ? value->template get<double>() : 0;
  if (!(number > 0) || !std::isfinite(number)) refuse(key, "a number above 0");
  return number;
}

template <typename AnyJson>
double BasicJsonObjectReader<AnyJson>::positive(const std::string& key) const {
  const auto value = positive_or_none(key);
  if (!value) refuse(key, "a number above 0");
  return *value;
}

template <typename AnyJson>
bool BasicJsonObjectReader<AnyJson>::boolean(const std::string& key, bool fallback) const {
  const AnyJson* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) refuse(key, "true or false");
  return value->template get<bool>();
}

template <typename AnyJson>
std::optional<std::string> BasicJsonObjectReader<AnyJson>::text_or_none(
    const std::string& key) const {
  const AnyJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(key, "a text");
  return value->template get<std::string>();
}

template <typename AnyJson>
std::optional<BasicJsonObjectReader<AnyJson>> BasicJsonObjectReader<AnyJson>::object_or_none(
    const std::string& key) const {
  const AnyJson* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) refuse(key, "an object");
  return BasicJsonObjectReader(*value, where_ + ": " + key, code_);
}

template <typename AnyJson>
bool BasicJsonObjectReader<AnyJson>::boolean(const std::string& key) const {
  if (!has(key)) refuse(key, "true or false");
  return boolean(key, false);
}

template <typename AnyJson>
std::string BasicJsonObjectReader<AnyJson>::text(const std::string& key) const {
  auto found = text_or_none(key);
  if (!found) refuse(key, "a text");
  return *std::move(found);
}

template <typename AnyJson>
const AnyJson& BasicJsonObjectReader<AnyJson>::list(const std::string& key) const {
  const AnyJson* found = find(key);
  if (found == nullptr || !found->is_array()) refuse(key, "a list");
  return *found;
}

template <typename AnyJson>
const AnyJson& BasicJsonObjectReader<AnyJson>::value(const std::string& key) const {
  const AnyJson* found = find(key);
  if (found == nullptr) refuse(key, "a value");
  return *found;
}

template <typename AnyJson>
void BasicJsonObjectReader<AnyJson>::allow_only(
    std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : object_.items())
    if (std::ranges::find(keys, key) == keys.end())
      fail(code_, fmt::format("{}: unknown key '{}'", where_, key));
}

template <typename AnyJson>
void BasicJsonObjectReader<AnyJson>::require_version(std::int64_t expected) const {
  const std::int64_t version = integer("version", 0, std::numeric_limits<std::int64_t>::max());
  if (version != expected)
    fail(code_, fmt::format("{}: found version {}, this odb-trainer reads version {}; continue "
                            "with the release that wrote it",
                            where_, version, expected));
}

template class BasicJsonObjectReader<Json>;
template class BasicJsonObjectReader<SortedJson>;

}  // namespace odb
