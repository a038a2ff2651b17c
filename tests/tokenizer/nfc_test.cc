// Normal form C: by hand, by its laws on random text, and where the reference's tables end.
#include "tokenizer/nfc.h"

#include <utf8proc.h>

#include "catch.h"
#include "random_text.h"
#include "tokenizer/code_points.h"

using namespace odb;

namespace {

std::string nfc(std::string_view text) {
  std::string scratch;
  return std::string(normalize_nfc(text, scratch));
}

std::string nfc_of_utf8proc(const std::string& text) {
  utf8proc_uint8_t* result = nullptr;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto length =
      utf8proc_map(bytes, static_cast<utf8proc_ssize_t>(text.size()), &result,
                   static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  REQUIRE(length >= 0);
  std::string composed(reinterpret_cast<const char*>(result), static_cast<std::size_t>(length));
  std::free(result);
  return composed;
}

}  // namespace

TEST_CASE("normal form C, worked out by hand") {
  const std::pair<const char*, const char*> kForms[] = {
      {"", ""},
      {"plain ASCII, longer than eight", "plain ASCII, longer than eight"},
      {"caf\u00E9", "caf\u00E9"},
      {"cafe\u0301", "caf\u00E9"},
      {"s\u0323\u0307", "\u1E69"},
      {"s\u0307\u0323", "\u1E69"},
      {"A\u030A\u212B\u2126", "\u00C5\u00C5\u03A9"},
      {"\u1112\u1161\u11AB", "\uD55C"},
      {"\u0958", "\u0915\u093C"},
      {"\u0301x", "\u0301x"},
      {"<\u0338", "\u226E"},
      {"\u0344", "\u0308\u0301"}};
  for (const auto& [text, form] : kForms) {
    INFO(text);
    CHECK(nfc(text) == form);
  }
}

TEST_CASE("text in form C is returned without a copy") {
  std::string scratch;
  const std::string text = "d\u00E9j\u00E0 vu, \u4F60\u597D, \u0928\u092E\u0938\u094D\u0924\u0947";
  CHECK(normalize_nfc(text, scratch).data() == text.data());
  CHECK(normalize_nfc("e\u0301", scratch).data() == scratch.data());
}

TEST_CASE("characters that both know are normalized as utf8proc does") {
  constexpr std::uint32_t kSeed = 17;
  RandomText random(kSeed, [](std::uint32_t c) { return !(code_point_table()[c] & nfc_opaque); });
  for (int i = 0; i < 20000; ++i) {
    const std::string text = random.text(30);
    if (nfc(text) == nfc_of_utf8proc(text)) continue;
    INFO("seed " << kSeed << ", round " << i);
    CHECK(nfc(text) == nfc_of_utf8proc(text));
  }
}

TEST_CASE("long runs of marks are put in order") {
  std::string text = "a";
  for (int i = 0; i < 100; ++i)
    text += "\u0301\u0323";
  CHECK(nfc(text) == nfc_of_utf8proc(text));
}

TEST_CASE("four megabytes of marks out of order are put in order") {
  // Sorting by neighbors would take hours here, and the test's limit would end it.
  constexpr int kRounds = (4 << 20) / 8;
  std::string text = "a";
  std::string form = "\u1EA1";  // takes the first dot below
  for (int i = 0; i < kRounds; ++i)
    text += "\u0323\u0307\u0301\u0323";
  for (int i = 1; i < 2 * kRounds; ++i)
    form += "\u0323";
  for (int i = 0; i < kRounds; ++i)
    form += "\u0307\u0301";
  CHECK((nfc(text) == form));
}

TEST_CASE("characters that the reference does not know stay where they are") {
  // U+1AC1 has a combining class in Unicode 14, but not in the reference's tables.
  CHECK(nfc("a\u1AC1\u0334") == "a\u1AC1\u0334");
  CHECK(nfc("\U00011935\U00011930") == "\U00011935\U00011930");
}
