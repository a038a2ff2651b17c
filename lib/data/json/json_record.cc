#include "data/json/json_record.h"

#include <algorithm>
#include <charconv>
#include <new>

#include "base/error.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr std::size_t kKeptCapacity = 4 << 20;
constexpr std::size_t kEscapeBytes = 6;  // \uXXXX

constexpr std::string_view kNoNumber =
    "found a number that is not a JSON number or needs more than 64 bits";

// The value of \uXXXX at `at`, or nullopt.
std::optional<unsigned> escaped_unit(std::span<const char> json, std::size_t at) {
  if (at + kEscapeBytes > json.size() || json[at] != '\\' || json[at + 1] != 'u')
    return std::nullopt;
  unsigned unit = 0;
  const char* const digits = json.data() + at + 2;
  const auto [end, error] = std::from_chars(digits, digits + 4, unit, 16);
  if (error != std::errc() || end != digits + 4) return std::nullopt;
  return unit;
}

bool is_high(unsigned unit) {
  return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low(unsigned unit) {
  return unit >= 0xDC00 && unit < 0xE000;
}

std::string_view reason(simdjson::error_code error) {
  switch (error) {
    case simdjson::UTF8_ERROR:
      return "found bytes that are not UTF-8; expected UTF-8 text";
    case simdjson::UNESCAPED_CHARS:
      return "found a raw control character inside a string; expected it escaped, as in \\t";
    case simdjson::UNCLOSED_STRING:
      return "found a string without its closing quote; was the line cut?";
    case simdjson::DEPTH_ERROR:
      return "found values nested more than 1024 deep";
    case simdjson::EMPTY:
      return "found nothing; expected a JSON object";
    case simdjson::NUMBER_ERROR:
      return kNoNumber;
    case simdjson::STRING_ERROR:
      return "found a string with a broken escape";
    case simdjson::TAPE_ERROR:
      return "found text that is not a single JSON value (cut, or followed by something?)";
    default: {
      // Later versions of the library have an error code for this; earlier ones do not.
      const std::string_view message = simdjson::error_message(error);
      return message.starts_with("BIGINT_ERROR") ? kNoNumber : message;
    }
  }
}

}  // namespace

std::size_t replace_lone_surrogates(std::span<char> json) {
  std::size_t replaced = 0;
  for (std::size_t at = 0; at + 1 < json.size();) {
    if (json[at] != '\\') {
      ++at;
      continue;
    }
    const std::optional<unsigned> unit = escaped_unit(json, at);
    if (!unit) {
      at += 2;
      continue;
    }
    const std::optional<unsigned> next = escaped_unit(json, at + kEscapeBytes);
    if (is_high(*unit) && next && is_low(*next)) {
      at += 2 * kEscapeBytes;
      continue;
    }
    if (is_high(*unit) || is_low(*unit)) {
      std::copy_n("fffd", 4, json.begin() + static_cast<std::ptrdiff_t>(at) + 2);
      ++replaced;
    }
    at += kEscapeBytes;
  }
  return replaced;
}

JsonValue JsonParser::parse(std::span<char> text) {
  // Some versions of the library skip it.
  if (std::string_view(text.data(), text.size()).starts_with(kByteOrderMark))
    throw DataError("found a byte order mark; only a file may begin with one");
  if (parser_.capacity() > kKeptCapacity && text.size() < parser_.capacity() / 4)
    parser_ = simdjson::dom::parser();
  auto result = parser_.parse(text.data(), text.size(), /*realloc_if_needed=*/false);
  if (result.error() == simdjson::STRING_ERROR && replace_lone_surrogates(text) > 0)
    result = parser_.parse(text.data(), text.size(), /*realloc_if_needed=*/false);
  // Not the row's fault: the process ends, and the row is tried again.
  if (result.error() == simdjson::MEMALLOC) throw std::bad_alloc();
  if (result.error() != simdjson::SUCCESS) throw DataError("{}", reason(result.error()));
  return result.value_unsafe();
}

JsonValue JsonParser::parse_copy(std::string_view text) {
  copy_.assign(text);
  copy_.resize(text.size() + simdjson::SIMDJSON_PADDING);
  return parse(std::span(copy_).first(text.size()));
}

bool has_underflow(std::string_view json) {
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '"') {
      for (++at; at < json.size() && json[at] != '"'; ++at)
        if (json[at] == '\\') ++at;
      ++at;
      continue;
    }
    if (json[at] != '-' && (json[at] < '0' || json[at] > '9')) {
      ++at;
      continue;
    }
    const std::string_view rest = json.substr(at);
    const std::string_view number = rest.substr(0, rest.find_first_not_of("+-.0123456789eE"));
    double value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    const std::string_view digits = number.substr(0, number.find_first_of("eE"));
    if (value == 0 && digits.find_first_of("123456789") != std::string_view::npos) return true;
    at += number.size();
  }
  return false;
}

bool is_all_ones(const JsonValue& json) {
  simdjson::dom::array array;
  if (json.get(array) != simdjson::SUCCESS) return false;
  for (const JsonValue item : array) {
    double value = 0;
    bool flag = false;
    const bool is_one = (item.get(value) == simdjson::SUCCESS && value == 1) ||
                        (item.get(flag) == simdjson::SUCCESS && flag);
    if (!is_one) return false;
  }
  return true;
}

std::string_view kind_of(const JsonValue& json) {
  switch (json.type()) {
    case simdjson::dom::element_type::ARRAY:
      return "an array";
    case simdjson::dom::element_type::OBJECT:
      return "an object";
    case simdjson::dom::element_type::STRING:
      return "a string";
    case simdjson::dom::element_type::BOOL:
      return "true or false";
    case simdjson::dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

std::optional<JsonValue> value_of(const simdjson::dom::object& object, std::string_view key) {
  std::optional<JsonValue> last;
  for (const auto field : object)
    if (field.key == key) last = field.value;
  return last;
}

std::optional<std::string_view> as_string(const JsonValue& json) {
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS) return std::nullopt;
  return text;
}

}  // namespace odb
