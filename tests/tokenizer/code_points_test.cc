#include "tokenizer/code_points.h"

#include <map>

#include "catch.h"

using namespace odb;

TEST_CASE("classes of characters that differ between the Unicode versions") {
  const CodePointTable& table = code_point_table();
  const std::map<std::uint32_t, int> kClasses{
      {'a', letter | word},
      {'7', number | word | numeric},
      {' ', space},
      {'_', word},
      {'-', 0},
      {0x85, space},
      {0x2028, space},
      {0x200B, 0},  // zero width space is none
      {0x180E, 0},  // nor is the Mongolian vowel separator
      {0x301, mark | word | nfc_check},
      {0x93E, mark | word},              // a vowel sign that NFC never touches
      {0x9BE, mark | word | nfc_check},  // one that may merge with what is before it
      {0x1161, letter | word | nfc_check},
      {0x2167, number | word | numeric},
      {0xBD, number | numeric},
      {0x4E00, letter | word},
      {0x1F600, 0},
      {0x378, nfc_opaque},
      {0x31350, letter | word | nfc_opaque},  // a letter since Unicode 15, not known to NFC
      {0x10FFFF, nfc_opaque}};
  for (const auto& [code_point, classes] : kClasses) {
    CAPTURE(code_point);
    CHECK(static_cast<int>(table[code_point]) == classes);
  }
}

TEST_CASE("there are as many members as the reference has") {
  std::map<int, int> members;
  for (std::uint32_t c = 0; c < 0x110000; ++c) {
    for (int bit = 0; bit < 8; ++bit)
      members[1 << bit] += code_point_table()[c] >> bit & 1;
  }
  CHECK(members[letter] == 141028);
  CHECK(members[number] == 1911);
  CHECK(members[mark] == 2501);
  CHECK(members[space] == 25);
  CHECK(members[word] == 144667);
  CHECK(members[numeric] == 1924);
}
