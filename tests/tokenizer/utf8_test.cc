#include "tokenizer/utf8.h"

#include "catch.h"
#include "tokenizer/byte_alphabet.h"

using namespace odb;

TEST_CASE("every code point is written and read back") {
  for (std::uint32_t c = 0; c < 0x110000; c += c < 0x900 ? 1 : 97) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text = "x";
    append_utf8(c, text);
    const CodePoint forward = read_code_point(text.data() + 1);
    const CodePoint backward = read_code_point_before(text, text.size());
    if (forward.value == c && forward.bytes == text.size() - 1 && backward.value == c) continue;
    CAPTURE(c);
    CHECK(forward.value == c);
    CHECK(backward.value == c);
  }
}

TEST_CASE("each maximal broken part becomes one replacement character") {
  struct Repair {
    std::string bytes;
    std::string text;
    std::optional<std::size_t> first;
  };
  const Repair kRepairs[] = {
      {"", "", {}},
      {"ok \u00E9 \U0001F600", "ok \u00E9 \U0001F600", {}},
      {"a\x80z", "a\uFFFDz", 1},
      {"\xC0\x80", "\uFFFD\uFFFD", 0},
      {"\xE4\xBD", "\uFFFD", 0},
      {"\xE4\xBDz", "\uFFFDz", 0},
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD", 0},
      {"\xF0\x9F\x98", "\uFFFD", 0},
      {"\xF0\x80\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD", 0},
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD", 0},
      {"12\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41", "12\uFFFD\uFFFD\uFFFD\uFFFD\x41", 2}};
  for (const Repair& repair : kRepairs) {
    INFO(repair.text);
    CHECK(replace_invalid_utf8(repair.bytes) == repair.text);
    CHECK(find_invalid_utf8(repair.bytes) == repair.first);
  }
}

TEST_CASE("the byte alphabet spells every byte and reads it back") {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    bytes += static_cast<char>(byte);
  std::string back;
  append_spelled_bytes(spell_bytes(bytes), back);
  CHECK(back == bytes);
  CHECK(spell_bytes(" the\n\x7F") == "ĠtheĊġ");
  CHECK(letter_of_byte(0) == 0x100);
  CHECK(letter_of_byte(0xAD) == 0x143);
  std::string outside = "x";
  append_spelled_bytes("Ġ\u4F60", outside);
  CHECK(outside == "xĠ\u4F60");
}
