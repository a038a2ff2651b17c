#include "tokenizer/regex_properties.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "tokenizer/code_points.h"

namespace odb {

namespace {

// Not Mn and Mc (U+1171E moved from one to the other), Cf, Cn and C.
constexpr std::array<std::string_view, 32> kCategories{
    "L",  "M",  "N",  "P",  "S",  "Z",  "Lu", "Ll", "Lt", "Lm", "Lo", "Me", "Nd", "Nl", "No", "Pc",
    "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Co", "Cs"};

struct Script {
  std::string_view name;
  std::string_view newer;  // than Unicode 14
};

constexpr Script kScripts[] = {
    {"Arabic", R"(\x{897}\x{10EC2}-\x{10EC4}\x{10EFC}-\x{10EFF})"},
    {"Armenian", ""},
    {"Bengali", ""},
    {"Bopomofo", ""},
    {"Cyrillic", R"(\x{1C89}\x{1C8A}\x{1E030}-\x{1E06D}\x{1E08F})"},
    {"Devanagari", R"(\x{11B00}-\x{11B09})"},
    {"Ethiopic", ""},
    {"Georgian", ""},
    {"Greek", ""},
    {"Gujarati", ""},
    {"Gurmukhi", ""},
    {"Han", R"(\x{2B739}\x{2EBF0}-\x{2EE5D}\x{31350}-\x{323AF})"},
    {"Hangul", ""},
    {"Hebrew", ""},
    {"Hiragana", R"(\x{1B132})"},
    {"Kannada", R"(\x{CF3})"},
    {"Katakana", R"(\x{1B155})"},
    {"Khmer", ""},
    {"Lao", R"(\x{ECE})"},
    {"Latin", R"(\x{A7CB}-\x{A7CD}\x{A7DA}-\x{A7DC}\x{1DF25}-\x{1DF2A})"},
    {"Malayalam", ""},
    {"Mongolian", ""},
    {"Myanmar", R"(\x{116D0}-\x{116E3})"},
    {"Oriya", ""},
    {"Sinhala", ""},
    {"Tamil", ""},
    {"Telugu", ""},
    {"Thai", ""},
    {"Tibetan", ""}};

// Those of the code points that PCRE2 may lack for which `wanted` is true.
template <typename Wanted>
std::string newer(Pcre2Unicode unicode, const Wanted& wanted) {
  std::string ranges;
  if (unicode == Pcre2Unicode::since_16) return ranges;
  for (const detail::NewerRange& range :
       std::span(detail::kNewerRanges, detail::kNewerRangeCount)) {
    if (wanted(range)) ranges += fmt::format("\\x{{{:X}}}-\\x{{{:X}}}", range.first, range.last);
  }
  return ranges;
}

}  // namespace

std::optional<CharacterSet> character_property(std::string_view name, Pcre2Unicode unicode) {
  if (std::find(kCategories.begin(), kCategories.end(), name) != kCategories.end()) {
    return CharacterSet{.escape = fmt::format("\\p{{{}}}", name),
                        .added = newer(unicode, [name](const detail::NewerRange& range) {
                          return std::string_view(range.category).starts_with(name);
                        })};
  }
  const auto* const script =
      std::find_if(std::begin(kScripts), std::end(kScripts),
                   [name](const Script& known) { return known.name == name; });
  if (script == std::end(kScripts)) return std::nullopt;
  // \p{Han} alone means Script_Extensions to PCRE2.
  return CharacterSet{.escape = fmt::format("\\p{{sc:{}}}", name),
                      .added = std::string(unicode == Pcre2Unicode::since_16 ? "" : script->newer)};
}

CharacterSet word_characters(Pcre2Unicode unicode) {
  return {.escape = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})",
          .added = newer(unicode, [](const detail::NewerRange& range) { return range.is_word; })};
}

CharacterSet digit_characters(Pcre2Unicode unicode) {
  return *character_property("Nd", unicode);
}

}  // namespace odb
