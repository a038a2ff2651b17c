#include "model/strict_json.h"

#include <cmath>
#include <set>

#include "base/error.h"

namespace odb {
namespace {

// The library's words behind its "[json.exception...] parse error at line 1, column 2: ".
std::string reason_of(const Json::exception& error) {
  const std::string_view whole = error.what();
  const std::size_t start = whole.find("] ");
  return std::string(start == std::string_view::npos ? whole : whole.substr(start + 2));
}

}  // namespace

Json parse_strict_object(std::string_view text, const std::string& where) {
  // The parser takes a byte 0 for the end of its input.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw FileError("{}: malformed JSON: found a byte 0 at {}", where, zero);
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key &&
        !open_objects.back().insert(parsed.get<std::string>()).second)
      throw FileError("{}: the key {} comes twice", where, found_json(parsed));
    return true;
  };
  Json json;
  try {
    json = Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::exception& error) {
    throw FileError("{}: malformed JSON: {}", where, reason_of(error));
  }
  if (!json.is_object())
    throw FileError("{}: found {}, wanted a JSON object", where, found_json(json));
  return json;
}

std::string found_json(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  constexpr std::size_t kMost = 80;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

const Json* JsonObjectReader::find(const std::string& key) const {
  const auto found = object_.find(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void JsonObjectReader::refuse(const std::string& key, const std::string& wanted) const {
  const Json* value = find(key);
  throw FileError("{}: {}: found {}, wanted {}", where_, key,
                  value ? found_json(*value) : "nothing", wanted);
}

std::optional<std::int64_t> JsonObjectReader::integer_or_none(const std::string& key,
                                                              std::int64_t least,
                                                              std::int64_t most) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() ||
                     value->get<std::uint64_t>() <= static_cast<std::uint64_t>(most));
  if (!fits || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most)
    refuse(key, fmt::format("a whole number from {} to {}", least, most));
  return value->get<std::int64_t>();
}

std::int64_t JsonObjectReader::integer(const std::string& key, std::int64_t least,
                                       std::int64_t most) const {
  const auto value = integer_or_none(key, least, most);
  if (!value) refuse(key, fmt::format("a whole number from {} to {}", least, most));
  return *value;
}

std::optional<double> JsonObjectReader::positive_or_none(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const double number = value->is_number() ? value->get<double>() : 0;
  if (!(number > 0) || !std::isfinite(number)) refuse(key, "a number above 0");
  return number;
}

double JsonObjectReader::positive(const std::string& key) const {
  const auto value = positive_or_none(key);
  if (!value) refuse(key, "a number above 0");
  return *value;
}

bool JsonObjectReader::boolean(const std::string& key, bool fallback) const {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_boolean()) refuse(key, "true or false");
  return value->get<bool>();
}

std::optional<std::string> JsonObjectReader::text_or_none(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(key, "a text");
  return value->get<std::string>();
}

std::optional<JsonObjectReader> JsonObjectReader::object_or_none(const std::string& key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) refuse(key, "an object");
  return JsonObjectReader(*value, where_ + ": " + key);
}

}  // namespace odb
