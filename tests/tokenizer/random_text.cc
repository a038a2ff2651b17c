#include "random_text.h"

#include <array>

#include "tokenizer/utf8.h"

namespace odb {

std::uint32_t RandomText::code_point() {
  constexpr std::array<std::uint32_t, 32> kDistinctive{
      ' ',    ' ',    ' ',    '\'',   's',   'T',    'l',    'L',     'v',    'e',   '\n',
      '\r',   '\t',   '1',    '.',    '/',   0xA0,   0x85,   0x17F,   0x301,  0x338, 0x93C,
      0x2028, 0x3000, 0x200D, 0x180E, 0x661, 0x2167, 0x1161, 0x1F600, 0xFE0F, 0xE9};
  switch (below(8)) {
    case 0:
    case 1:
    case 2:
      return kDistinctive[below(kDistinctive.size())];
    case 3:
    case 4:
      return 'a' + below(26);
    case 5:
      return below(0x80);
    case 6:
      return below(0x3100);
    default:
      return below(0x110000);
  }
}

std::string RandomText::text(std::size_t longest) {
  std::string text;
  const std::uint32_t count = below(static_cast<std::uint32_t>(longest + 1));
  for (std::uint32_t i = 0; i < count;) {
    const std::uint32_t candidate = code_point();
    if ((candidate >= 0xD800 && candidate < 0xE000) || !is_wanted_(candidate)) continue;
    // Runs of one character make the borders between alternatives show.
    for (std::uint32_t run = below(6) == 0 ? 1 + below(12) : 1; run > 0; --run) {
      append_utf8(candidate, text);
    }
    ++i;
  }
  return text;
}

}  // namespace odb
