#include "data/json/python_json.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

namespace odb {
namespace {

using simdjson::dom::element_type;

constexpr int kSmallestFixedExponent = -4;
constexpr int kLargestFixedExponent = 15;

void append_float(double value, std::string& out) {
  char buffer[64];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  if (text.front() == '-') {
    out += '-';
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  int exponent = 0;
  const char* const digits_of_exponent = text.data() + e + 1 + (text[e + 1] == '+' ? 1 : 0);
  std::from_chars(digits_of_exponent, text.data() + text.size(), exponent);
  std::string digits(1, text.front());
  if (e > 1) digits += text.substr(2, e - 2);

  if (exponent < kSmallestFixedExponent || exponent > kLargestFixedExponent) {
    out += digits.front();
    if (digits.size() > 1) out.append(".").append(digits, 1);
    out += fmt::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
    return;
  }
  if (exponent < 0) {
    out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
    return;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  out.append(digits, 0, whole).append(".");
  out.append(digits.size() > whole ? digits.substr(whole) : "0");
}

void append_field(std::string_view key, const JsonValue& value, bool first, std::string& out) {
  if (!first) out += ", ";
  append_python_json_string(key, out);
  out += ": ";
  append_python_json(value, out);
}

bool has_doubled_key(const simdjson::dom::object& object) {
  std::vector<std::string_view> keys;
  for (const auto field : object)
    keys.push_back(field.key);
  std::sort(keys.begin(), keys.end());
  return std::adjacent_find(keys.begin(), keys.end()) != keys.end();
}

void append_object(const simdjson::dom::object& object, std::string& out) {
  out += '{';
  bool first = true;
  if (!has_doubled_key(object)) {
    for (const auto field : object) {
      append_field(field.key, field.value, first, out);
      first = false;
    }
  } else {
    std::unordered_map<std::string_view, JsonValue> last;
    for (const auto field : object)
      last.insert_or_assign(field.key, field.value);
    for (const auto field : object) {
      const auto found = last.find(field.key);
      if (found == last.end()) continue;
      append_field(field.key, found->second, first, out);
      last.erase(found);
      first = false;
    }
  }
  out += '}';
}

void append_array(const simdjson::dom::array& array, std::string& out) {
  out += '[';
  bool first = true;
  for (const JsonValue item : array) {
    if (!first) out += ", ";
    first = false;
    append_python_json(item, out);
  }
  out += ']';
}

// The end of the string that opens at `at`.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (++at; json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return at + 1;
}

}  // namespace

void append_python_json_string(std::string_view text, std::string& out) {
  out += '"';
  for (const char byte : text) {
    switch (byte) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(byte) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
        else
          out += byte;
    }
  }
  out += '"';
}

void append_python_json(const JsonValue& json, std::string& out) {
  switch (json.type()) {
    case element_type::OBJECT:
      return append_object(json.get_object().value_unsafe(), out);
    case element_type::ARRAY:
      return append_array(json.get_array().value_unsafe(), out);
    case element_type::STRING:
      return append_python_json_string(json.get_string().value_unsafe(), out);
    case element_type::INT64:
      out += fmt::to_string(json.get_int64().value_unsafe());
      return;
    case element_type::UINT64:
      out += fmt::to_string(json.get_uint64().value_unsafe());
      return;
    case element_type::DOUBLE:
      return append_float(json.get_double().value_unsafe(), out);
    case element_type::BOOL:
      out += json.get_bool().value_unsafe() ? "true" : "false";
      return;
    case element_type::NULL_VALUE:
      out += "null";
      return;
  }
}

std::string indent_python_json(std::string_view json, int width) {
  std::string out;
  std::size_t depth = 0;
  const auto new_line = [&] {
    out.append("\n").append(depth * static_cast<std::size_t>(width), ' ');
  };
  for (std::size_t at = 0; at < json.size();) {
    const char byte = json[at];
    if (byte == '"') {
      const std::size_t end = string_end(json, at);
      out += json.substr(at, end - at);
      at = end;
      continue;
    }
    const bool closes_next = at + 1 < json.size() && (json[at + 1] == '}' || json[at + 1] == ']');
    if ((byte == '{' || byte == '[') && closes_next) {
      out += json.substr(at, 2);
      at += 2;
      continue;
    }
    if (byte == '{' || byte == '[') {
      out += byte;
      ++depth;
      new_line();
    } else if (byte == '}' || byte == ']') {
      --depth;
      new_line();
      out += byte;
    } else if (byte == ',') {
      out += byte;
      new_line();
      ++at;  // the blank after it
    } else {
      out += byte;
    }
    ++at;
  }
  return out;
}

}  // namespace odb
