// Unicode normalization form C, equal to that of Hugging Face tokenizers: its tables are old, so
// characters that it does not know are left alone and nothing is moved across them (class
// nfc_opaque), whatever Unicode version the system's utf8proc has.
#pragma once

#include <string>
#include <string_view>

namespace odb {

// The text in form C. Returns `text` itself when it is in that form already (the usual case: no
// copy, about the speed of reading it), else a view of `scratch`, which is overwritten.
// REQUIRES: valid UTF-8.
std::string_view normalize_nfc(std::string_view text, std::string& scratch);

}  // namespace odb
