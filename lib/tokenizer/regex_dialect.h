// Patterns of tokenizer files are written for Oniguruma; we run them with PCRE2. This translates
// the part of the language that split patterns use and refuses the rest by name, so no pattern
// silently means something else. These differ and are translated: \s \S \w \W \v \uHHHH {,n} and
// the names of scripts.
//
// Refused because the two disagree: properties that regex_properties.h does not know; inside
// (?i:...) all but ASCII letters, whose pairs must not be the fold of one character ("ss" of "ß");
// repetitions of what can match the empty string.
#pragma once

#include <string>
#include <string_view>

#include "tokenizer/regex_properties.h"

namespace odb {

// The PCRE2 pattern (to be compiled with UTF, UCP, MULTILINE, newline LF) that matches what
// `pattern` does in Oniguruma. Throws DataError that begins with `where` and names the construct
// and its offset.
std::string translate_oniguruma(std::string_view pattern, Pcre2Unicode unicode,
                                const std::string& where);

}  // namespace odb
