// The hand-written scanners against their patterns.
#include "tokenizer/word_scanner.h"

#include <random>

#include "catch.h"
#include "random_text.h"
#include "test_tokenizers.h"
#include "tokenizer/code_points.h"
#include "tokenizer/regex.h"
#include "tokenizer/split_steps.h"
#include "tokenizer/utf8.h"

using namespace odb;

namespace {

std::vector<std::string> words(const Splitter& splitter, const std::string& text) {
  const Span whole{0, static_cast<std::uint32_t>(text.size())};
  std::vector<Span> spans;
  splitter.split(text, {&whole, 1}, spans);
  std::vector<std::string> found;
  for (const Span span : spans)
    found.emplace_back(span.of(text));
  return found;
}

// Which code points match a class of our patterns.
std::vector<bool> members_in_pcre2(const std::string& pattern) {
  std::string text;
  std::vector<std::uint32_t> at(1 << 23);
  for (std::uint32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    at[text.size()] = c;
    append_utf8(c, text);
  }
  std::vector<bool> members(0x110000);
  const Regex regex(pattern, "test");
  Regex::Searcher searcher(regex);
  searcher.start(text);
  while (const auto match = searcher.next())
    members[at[match->begin]] = true;
  return members;
}

// Code points with the same classes in our table and the system's PCRE2.
std::vector<bool> agreed_code_points() {
  std::vector<bool> agreed(0x110000, true);
  const CodePointTable& table = code_point_table();
  const std::pair<const char*, CodePointClass> kClasses[] = {
      {"\\p{L}", letter}, {"\\p{N}", number}, {"\\p{M}", mark}, {"\\s", space}};
  for (const auto& [pattern, bit] : kClasses) {
    const std::vector<bool> members = members_in_pcre2(pattern);
    for (std::uint32_t c = 0; c < 0x110000; ++c) {
      if (c >= 0xD800 && c < 0xE000) continue;
      if (members[c] != ((table[c] & bit) != 0)) agreed[c] = false;
    }
  }
  return agreed;
}

struct Split {
  std::string text;
  std::vector<std::string> words;
};

}  // namespace

TEST_CASE("patterns see the classes of the table, except for characters newer than both") {
  const std::vector<bool> agreed = agreed_code_points();
  std::vector<std::uint32_t> changed;
  for (std::uint32_t c = 0; c < 0x110000; ++c) {
    const std::uint8_t classes = code_point_table()[c];
    const bool is_unassigned = (classes & nfc_opaque) && !(classes & ~nfc_opaque);
    if (!agreed[c] && !is_unassigned) changed.push_back(c);
  }
  // The category of an old character sometimes changes.
  CAPTURE(changed);
  CHECK(changed.size() <= 4);
}

TEST_CASE("each scanner gives the words of its pattern on random text") {
  const std::vector<bool> agreed = agreed_code_points();
  constexpr std::uint32_t kSeed = 20251129;
  for (const std::string_view pattern :
       {kGpt2Pattern, kQwen2Pattern, kLlama3Pattern, kQwen35Pattern}) {
    const auto scanner = make_word_scanner(pattern);
    const auto regex = make_regex_splitter(pattern, {}, "test");
    REQUIRE(scanner != nullptr);
    RandomText random(kSeed, [&agreed](std::uint32_t c) { return agreed[c]; });
    for (int i = 0; i < 20000; ++i) {
      const std::string text = random.text(40);
      const auto expected = words(*regex, text);
      if (words(*scanner, text) == expected) continue;
      INFO("seed " << kSeed << ", pattern " << pattern << ", text "
                   << nlohmann::json(text).dump(-1, ' ', true));
      CHECK(words(*scanner, text) == expected);
    }
  }
}

// Texts of ASCII are read in blocks of 64 bytes: long ones, so that words and white space lie
// across the blocks' ends in every way.
TEST_CASE("each scanner gives the words of its pattern on random ASCII") {
  constexpr std::uint32_t kSeed = 20251130;
  constexpr std::string_view kDistinctive = "      ''stmdrevlLSTx\n\n\r\t\v123.,!\"-\x01\x7F";
  std::mt19937 random(kSeed);
  const auto below = [&random](std::size_t bound) { return random() % bound; };
  const auto text = [&] {
    std::string result;
    // Some texts have no mixed white space, so that more blocks are read as blocks.
    const bool plain = below(2) == 0;
    for (std::size_t left = below(90); left > 0; --left) {
      char character = static_cast<char>(below(2) == 0 ? 'a' + below(26) : below(0x80));
      if (below(3) != 0) character = kDistinctive[below(kDistinctive.size())];
      if (plain && std::string_view("\n\r\t\v\f").find(character) != std::string_view::npos)
        character = ' ';
      result.append(below(5) == 0 ? 1 + below(9) : 1, character);
    }
    return result;
  };
  for (const std::string_view pattern :
       {kGpt2Pattern, kQwen2Pattern, kLlama3Pattern, kQwen35Pattern}) {
    const auto scanner = make_word_scanner(pattern);
    const auto regex = make_regex_splitter(pattern, {}, "test");
    for (int i = 0; i < 30000; ++i) {
      const std::string ascii = text();
      const auto expected = words(*regex, ascii);
      if (words(*scanner, ascii) == expected) continue;
      INFO("seed " << kSeed << ", pattern " << pattern << ", text " << nlohmann::json(ascii));
      CHECK(words(*scanner, ascii) == expected);
    }
  }
}

TEST_CASE("words across the ends of blocks of 64 bytes, worked out by hand") {
  const auto scanner = make_word_scanner(kQwen2Pattern);
  const std::string x(60, 'x');
  const std::vector<Split> kSplits{
      {x + " abc d", {x, " abc", " d"}},         // a word is cut
      {x + "abc  d", {x + "abc", " ", " d"}},    // a run of blanks is cut
      {x + "ab  ", {x + "ab", "  "}},            // ends with the block, and with the text
      {x + "abc  ", {x + "abc", "  "}},          // and one byte after it
      {x + "ab'll c", {x + "ab", "'ll", " c"}},  // a contraction is cut
      {x + "a..\n\n\nb", {x + "a", "..\n\n\n", "b"}},
      {x + x, {x + x}},  // a word of more than a block
      {x + x + " y", {x + x, " y"}},
      {x + "ab \xC3\xA9t\xC3\xA9", {x + "ab", " \xC3\xA9t\xC3\xA9"}}};
  for (const Split& split : kSplits) {
    INFO(split.text);
    CHECK(words(*scanner, split.text) == split.words);
  }
}

TEST_CASE("the words of the Qwen2 pattern, worked out by hand") {
  const auto scanner = make_word_scanner(kQwen2Pattern);
  const std::vector<Split> kSplits{{"", {}},
                                   {"it's we'Ll 'tis", {"it", "'s", " we", "'Ll", " '", "tis"}},
                                   {"x'\u017Fy", {"x", "'\u017F", "y"}},
                                   {"a1234", {"a", "1", "2", "3", "4"}},
                                   {"  two   three", {" ", " two", "  ", " three"}},
                                   {"end  ", {"end", "  "}},
                                   {" \n\n  x", {" \n\n", " ", " x"}},
                                   {"!?\r\n\n!", {"!?\r\n\n", "!"}},
                                   {" !x", {" !", "x"}},
                                   {"\tx\u00A0y", {"\tx", "\u00A0y"}},
                                   {"e\u0301a", {"e", "\u0301a"}}};
  for (const Split& split : kSplits) {
    INFO(nlohmann::json(split.text).dump());
    CHECK(words(*scanner, split.text) == split.words);
  }
}

TEST_CASE("where the families differ") {
  const std::string text = "I'LL 1234\n\n \u0915\u094D\u0937!";
  const auto of = [&text](std::string_view pattern) {
    return words(*make_word_scanner(pattern), text);
  };
  using Words = std::vector<std::string>;
  CHECK(of(kGpt2Pattern) ==
        Words{"I", "'", "LL", " 1234", "\n\n", " \u0915", "\u094D", "\u0937", "!"});
  CHECK(of(kQwen2Pattern) ==
        Words{"I", "'LL", " ", "1", "2", "3", "4", "\n\n", " \u0915", "\u094D\u0937", "!"});
  CHECK(of(kLlama3Pattern) ==
        Words{"I", "'LL", " ", "123", "4", "\n\n", " \u0915", "\u094D\u0937", "!"});
  CHECK(of(kQwen35Pattern) ==
        Words{"I", "'LL", " ", "1", "2", "3", "4", "\n\n", " \u0915\u094D\u0937", "!"});
  CHECK(make_word_scanner("\\p{L}+") == nullptr);
}

TEST_CASE("a part is split independently of the text around it") {
  const auto scanner = make_word_scanner(kQwen2Pattern);
  const std::string text = "ab  cd";
  const std::vector<Span> parts{{0, 4}, {4, 6}};
  std::vector<Span> spans;
  scanner->split(text, parts, spans);
  CHECK(spans == std::vector<Span>{{0, 2}, {2, 4}, {4, 6}});
}
