// Patterns of tokenizer files are written for Oniguruma; we run them with PCRE2. This translates
// the part of the language that split patterns use and refuses the rest by name, so that no pattern
// ever means something else in silence. What differs and is translated: \s \S \w \W \v \uHHHH {,n}.
//
// Where the system's PCRE2 has an older Unicode than the reference (16), the code points that it
// lacks are added to the general categories (\p{L}, \p{Nd}, ...) by number.
#pragma once

#include <string>
#include <string_view>

namespace odb {

enum class Pcre2Unicode { older_than_16, since_16 };

// The PCRE2 pattern (to be compiled with UTF, UCP, MULTILINE, newline LF) that matches what
// `pattern` does in Oniguruma. Throws DataError that begins with `where` and names the construct
// and its offset.
std::string translate_oniguruma(std::string_view pattern, Pcre2Unicode unicode,
                                const std::string& where);

}  // namespace odb
