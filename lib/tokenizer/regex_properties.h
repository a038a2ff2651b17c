// Named sets of characters (\p{L}, \p{Han}, \w, \d) in PCRE2's language. Only sets that were
// compared with the reference for every code point are known
// (tests/tokenizer/golden/properties.txt), because the two libraries give many names to
// different sets.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace odb {

enum class Pcre2Unicode { older_than_16, since_16 };

// How a set is written inside a class: an escape, and the code points that an older PCRE2 lacks.
struct CharacterSet {
  std::string escape;  // "\p{L}"
  std::string added;   // "\x{1C89}-\x{1C8A}..."; mostly empty
};

// The set of \p{NAME}; nullopt for a name that is not known, also for other spellings of a known
// one.
std::optional<CharacterSet> character_property(std::string_view name, Pcre2Unicode unicode);

// \w, and \d.
CharacterSet word_characters(Pcre2Unicode unicode);
CharacterSet digit_characters(Pcre2Unicode unicode);

// What a bare \w matches in addition to [\w]: there Oniguruma uses its own Latin-1 table, in which
// ² ³ ¹ ¼ ½ ¾ are word characters.
inline constexpr std::string_view kBareWordCharacters = R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";

}  // namespace odb
