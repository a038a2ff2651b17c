// Patterns of tokenizer files are written for Oniguruma; we run them with PCRE2. This translates
// the part of the language that split patterns use and refuses the rest by name, so that no pattern
// ever means something else in silence. What differs and is translated: \s \S \w \W \v \uHHHH {,n}.
#pragma once

#include <string>
#include <string_view>

namespace odb {

// The PCRE2 pattern (to be compiled with UTF, UCP, MULTILINE, newline LF) that matches what
// `pattern` does in Oniguruma. Throws DataError that begins with `where` and names the construct
// and its offset.
std::string translate_oniguruma(std::string_view pattern, const std::string& where);

}  // namespace odb
