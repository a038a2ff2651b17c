// UTF-8 functions: read one code point, find and replace what is not UTF-8.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace odb {

struct CodePoint {
  std::uint32_t value;
  std::uint32_t bytes;  // 1 to 4
};

// The code point that starts at `text`. REQUIRES: valid UTF-8 from there on.
inline CodePoint read_code_point(const char* text) {
  const auto byte = [text](int i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F),
          4};
}

// The code point that ends right before text[end]. REQUIRES: end > 0, valid UTF-8 before it.
CodePoint read_code_point_before(std::string_view text, std::size_t end);

// Whether all bytes are below 0x80: then it is valid, and NFC leaves it as it is.
bool is_ascii(std::string_view text);

void append_utf8(std::uint32_t code_point, std::string& out);

// Offset of the first byte that is not part of valid UTF-8 (overlong forms, surrogates and values
// above U+10FFFF are not valid); nullopt if all is valid.
std::optional<std::size_t> find_invalid_utf8(std::string_view text);

// Every maximal part of a broken character becomes one U+FFFD, the practice that Unicode recommends
// and that web browsers and the reference follow.
std::string replace_invalid_utf8(std::string_view bytes);

}  // namespace odb
