#include "data/templates/python_strip.h"

#include <array>

namespace odb {
namespace {

// Those beyond ASCII, as UTF-8: U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F,
// U+205F, U+3000.
constexpr std::array<std::string_view, 19> kWideBlanks = {
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
    "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
    "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
    "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};

bool is_ascii_blank(char byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r') || (byte >= '\x1C' && byte <= '\x1F');
}

// Bytes of the blank at the front (or back), 0 when there is none.
std::size_t blank_bytes(std::string_view text, bool at_front) {
  if (text.empty()) return 0;
  if (is_ascii_blank(at_front ? text.front() : text.back())) return 1;
  for (const std::string_view blank : kWideBlanks)
    if (at_front ? text.starts_with(blank) : text.ends_with(blank)) return blank.size();
  return 0;
}

}  // namespace

std::string_view python_strip(std::string_view text) {
  while (const std::size_t bytes = blank_bytes(text, true))
    text.remove_prefix(bytes);
  while (const std::size_t bytes = blank_bytes(text, false))
    text.remove_suffix(bytes);
  return text;
}

}  // namespace odb
