// Named sets of characters (\p{L}, \p{Han}, \w, \d) in PCRE2's language. Only those are known that
// were held against the reference for every code point (tests/data/tokenizer/golden/
// properties.txt): the two libraries mean different sets by many of their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace odb {

enum class Pcre2Unicode { older_than_16, since_16 };

// What stands for a set inside a class: an escape, and the code points that an older PCRE2 lacks.
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

// What a bare \w matches beyond [\w]: Oniguruma looks Latin-1 up in a table of its own there, in
// which ² ³ ¹ ¼ ½ ¾ are word characters.
inline constexpr std::string_view kBareWordCharacters = R"(\x{B2}\x{B3}\x{B9}\x{BC}-\x{BE})";

}  // namespace odb
