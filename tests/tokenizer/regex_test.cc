// The pattern language: what is translated, what is refused, and how matches become pieces.
#include "tokenizer/regex.h"

#include <fstream>

#include "base/error.h"
#include "catch.h"
#include "test_tokenizers.h"
#include "tokenizer/regex_dialect.h"
#include "tokenizer/split_steps.h"
#include "tokenizer/utf8.h"

using namespace odb;

namespace {

std::vector<std::string> pieces(const Splitter& splitter, const std::string& text) {
  const Span whole{0, static_cast<std::uint32_t>(text.size())};
  std::vector<Span> spans;
  splitter.split(text, {&whole, 1}, spans);
  std::vector<std::string> found;
  for (const Span span : spans)
    found.emplace_back(span.of(text));
  return found;
}

}  // namespace

TEST_CASE("constructs with another meaning in PCRE2 are translated") {
  const std::pair<const char*, const char*> kTranslations[] = {
      {R"(\s+(?!\S)|[^\s\p{L}])", R"(\p{wspace}+(?!\P{wspace})|[^\p{wspace}\p{L}])"},
      {R"(\w)", R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}])"},
      {R"([\w-])", R"([\p{Alphabetic}\p{M}\p{Nd}\p{Pc}-])"},
      {R"(\W)", R"([^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE}])"},
      {R"(\p{Han}[\P{Greek}])", R"(\p{sc:Han}[\P{sc:Greek}])"},
      {R"(\p{^L})", R"(\P{L})"},
      {R"(\v\u3000)", R"(\x0B\x{3000})"},
      {R"(a{,3}b{2,}c{4})", R"(a{0,3}b{2,}c{4})"},
      {R"((?:a?b)*(?:(?=x)c|d+)+(?:a*)?)", R"((?:a?b)*(?:(?=x)c|d+)+(?:a*)?)"},
      {R"((?i:'[sdmt]|'ll|'re)ss)", R"((?i:'[sdmt]|'ll|'re)ss)"},
      {R"((?i:'s)(?=x)[\r\n/]*\[)", R"((?i:'s)(?=x)[\r\n/]*\[)"}};
  for (const auto& [pattern, translation] : kTranslations) {
    CHECK(translate_oniguruma(pattern, Pcre2Unicode::since_16, "test") == translation);
  }
}

TEST_CASE("for an older PCRE2 the characters that it lacks are added") {
  const auto translate = [](const char* pattern) {
    return translate_oniguruma(pattern, Pcre2Unicode::older_than_16, "test");
  };
  CHECK_THAT(translate("\\p{L}+"),
             Catch::StartsWith("[\\p{L}\\x{") && Catch::EndsWith("\\x{31350}-\\x{323AF}]+"));
  CHECK_THAT(translate("[^\\s\\p{L}]"), Catch::StartsWith("[^\\p{wspace}\\p{L}\\x{"));
  CHECK_THAT(translate("\\P{L}"), Catch::StartsWith("[^\\p{L}\\x{"));
  CHECK_THAT(translate("\\p{^L}"), Catch::StartsWith("[^\\p{L}\\x{"));
  CHECK_THAT(translate("\\d"), Catch::StartsWith("[\\p{Nd}\\x{"));
  CHECK(translate("\\p{Zs}") == "\\p{Zs}");
  CHECK(translate("\\p{Hiragana}") == "[\\p{sc:Hiragana}\\x{1B132}]");
  CHECK_THROWS_WITH(translate("[\\P{L}]"), Catch::Contains("a negated escape inside a class"));
}

TEST_CASE("constructs outside the dialect are refused by name and offset") {
  struct Refusal {
    const char* pattern;
    const char* expected;
  };
  const Refusal kRefusals[] = {{R"(ab\b)", R"(the escape \b at offset 2)"},
                               {R"(\h)", R"(the escape \h)"},
                               {R"((a)\1)", R"(the escape \1)"},
                               {R"([\W])", "a negated escape inside a class at offset 1"},
                               {R"([a[b]])", "a class inside a class"},
                               {R"([a&&b])", "an intersection of classes"},
                               {R"([]a])", "an empty class"},
                               {R"(a(?i)b)", "a group of this kind at offset 1"},
                               {R"((?<n>a))", "a group of this kind"},
                               {R"((*FAIL))", "a verb"},
                               {R"(a{2}?)", "followed by '?'"},
                               {R"(a{1,2}+)", "followed by '+'"},
                               {R"(a{x})", "a brace that is no interval"},
                               {R"(\xFF)", "a raw byte"},
                               {R"(\u12)", "four digits"},
                               {R"(a\p{Alphabetic})", "the property 'Alphabetic' at offset 1"},
                               {R"(\p{l})", "the property 'l'"},
                               {R"(\p{ L })", "the property ' L '"},
                               {R"(\p{LU})", "the property 'LU'"},
                               {R"(\p{Cf})", "the property 'Cf'"},
                               {R"(\p{Emoji})", "the property 'Emoji'"},
                               {R"(\pL)", "a property without braces"},
                               {R"(\p{L)", "a property without end"},
                               {R"((?i:ss))", "'ss' where case is ignored at offset 4"},
                               {R"((?i:xF(?:i)))", "'Fi' where case is ignored"},
                               {R"((?i)st)", "'st' where case is ignored"},
                               {"(?i:\u00DF)", "a character that is not ASCII where case"},
                               {"(?i:[a\u00DF])", "a character that is not ASCII where case"},
                               {R"((?i:\p{Lu}))", "the escape \\p where case is ignored"},
                               {R"((?i:[\w]))", "the escape \\w where case is ignored"},
                               {R"((a?|b)*)", "a repetition of what can match nothing at offset 6"},
                               {R"((?:|b)+)", "a repetition of what can match nothing"},
                               {R"(((a?)\d|(?<=a)b{,2}){2})", "a repetition of what can match"},
                               {R"((?=a)+)", "a repetition of what can match nothing"},
                               {R"(^*)", "a repetition of what can match nothing"},
                               {"a\\", "a lone backslash"}};
  for (const Refusal& refusal : kRefusals) {
    INFO(refusal.pattern);
    CHECK_THROWS_AS(translate_oniguruma(refusal.pattern, Pcre2Unicode::since_16, "place"),
                    DataError);
    CHECK_THROWS_WITH(translate_oniguruma(refusal.pattern, Pcre2Unicode::since_16, "place"),
                      Catch::StartsWith("place: ") && Catch::Contains(refusal.expected));
  }
}

TEST_CASE("named sets match the code points that the reference matches by them") {
  std::string all;
  for (std::uint32_t c = 0; c < 0x110000; ++c) {
    if (c < 0xD800 || c >= 0xE000) append_utf8(c, all);
  }
  std::ifstream golden(test_file("tokenizer/golden/properties.txt"));
  std::string line;
  int patterns = 0;
  while (std::getline(golden, line)) {
    if (line.starts_with('#')) continue;
    ++patterns;
    const std::string pattern = line.substr(0, line.find(' '));
    std::uint64_t count = 0;
    std::uint64_t hash = 0;
    const Regex regex(pattern, "test");
    Regex::Searcher searcher(regex);
    searcher.start(all);
    while (const auto match = searcher.next()) {
      ++count;
      hash = hash * 1000003 + read_code_point(all.data() + match->begin).value;
    }
    CHECK(line == fmt::format("{} {} {}", pattern, count, hash));
  }
  CHECK(patterns == 81);
}

TEST_CASE("a pattern that cannot be compiled is refused") {
  CHECK_THROWS_WITH(Regex("(a", "place"), Catch::StartsWith("place: ") && Catch::Contains("(a"));
}

TEST_CASE("a match that needs too many steps is an error, not an endless wait") {
  const auto splitter = make_regex_splitter("(a|aa)+$", {}, "test");
  CHECK_THROWS_WITH(pieces(*splitter, std::string(5000, 'a') + "b"), Catch::Contains("gave up"));
}

TEST_CASE("what each behavior does with the matches") {
  using Words = std::vector<std::string>;
  const auto split = [](SplitBehavior behavior, bool invert = false) {
    return pieces(*make_text_splitter("-", {behavior, invert}), "-a--b-");
  };
  CHECK(split(SplitBehavior::removed) == Words{"a", "b"});
  CHECK(split(SplitBehavior::removed, true) == Words{"-", "-", "-", "-"});
  CHECK(split(SplitBehavior::isolated) == Words{"-", "a", "-", "-", "b", "-"});
  CHECK(split(SplitBehavior::merged_with_previous) == Words{"-", "a-", "-", "b-"});
  CHECK(split(SplitBehavior::merged_with_next) == Words{"-a", "-", "-b", "-"});
  CHECK(split(SplitBehavior::contiguous) == Words{"-", "a", "--", "b", "-"});
}

TEST_CASE("digits one by one or in runs") {
  using Words = std::vector<std::string>;
  CHECK(pieces(*make_digits_splitter(true), "a12\u0663b") == Words{"a", "1", "2", "\u0663", "b"});
  CHECK(pieces(*make_digits_splitter(false), "a12\u0663b") == Words{"a", "12\u0663", "b"});
}
