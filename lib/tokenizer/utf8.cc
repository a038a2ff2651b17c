#include "tokenizer/utf8.h"

#include <simdjson.h>

#include <cstring>

namespace odb {

namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080;

struct Unit {
  std::size_t bytes;  // of the character, or of the maximal broken part
  bool valid;
};

// Table 3-7 of the Unicode standard: which second bytes may follow which first byte.
Unit read_unit(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[at + i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xC2 || lead > 0xF4) return {1, false};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= text.size()) return {i, false};
    const unsigned next = byte(i);
    if (next < (i == 1 ? lowest : 0x80) || next > (i == 1 ? highest : 0xBF)) return {i, false};
  }
  return {length, true};
}

}  // namespace

CodePoint read_code_point_before(std::string_view text, std::size_t end) {
  std::size_t start = end - 1;
  while (start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80)
    --start;
  return read_code_point(text.data() + start);
}

bool is_ascii(std::string_view text) {
  constexpr std::size_t kStep = 32;
  const auto eight_at = [text](std::size_t at) {
    std::uint64_t eight;
    std::memcpy(&eight, text.data() + at, 8);
    return eight;
  };
  std::uint64_t bits = 0;
  std::size_t at = 0;
  for (; at + kStep <= text.size(); at += kStep) {
    bits |= eight_at(at) | eight_at(at + 8) | eight_at(at + 16) | eight_at(at + 24);
    if (bits & kHighBits) return false;
  }
  for (; at + 8 <= text.size(); at += 8)
    bits |= eight_at(at);
  for (; at < text.size(); ++at)
    bits |= static_cast<unsigned char>(text[at]);
  return (bits & kHighBits) == 0;
}

void append_utf8(std::uint32_t code_point, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0 | code_point >> 6);
    put(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    put(0xE0 | code_point >> 12);
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  } else {
    put(0xF0 | code_point >> 18);
    put(0x80 | (code_point >> 12 & 0x3F));
    put(0x80 | (code_point >> 6 & 0x3F));
    put(0x80 | (code_point & 0x3F));
  }
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::nullopt;
  for (std::size_t at = 0; at < text.size();) {
    const Unit unit = read_unit(text, at);
    if (!unit.valid) return at;
    at += unit.bytes;
  }
  return std::nullopt;
}

std::string replace_invalid_utf8(std::string_view bytes) {
  if (simdjson::validate_utf8(bytes.data(), bytes.size())) return std::string(bytes);
  std::string out;
  out.reserve(bytes.size() + 16);
  for (std::size_t at = 0; at < bytes.size();) {
    const Unit unit = read_unit(bytes, at);
    if (unit.valid) {
      out.append(bytes, at, unit.bytes);
    } else {
      out += "\xEF\xBF\xBD";
    }
    at += unit.bytes;
  }
  return out;
}

}  // namespace odb
