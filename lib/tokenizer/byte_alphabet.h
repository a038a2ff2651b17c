// The alphabet of byte-level BPE: every byte is written as one printable character, so that a
// vocabulary of byte strings can be stored in a JSON file. Printable Latin-1 stands for itself, the
// other 68 bytes for U+0100 onwards (a blank is "Ġ", a line feed "Ċ"). From GPT-2.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace odb {

// The character of a byte.
std::uint32_t letter_of_byte(std::uint8_t byte);

// "Ġthe" of " the". Works on any bytes.
std::string spell_bytes(std::string_view bytes);

// Appends the bytes that `spelling` (valid UTF-8) stands for; a spelling with a character outside
// the alphabet stands for its own UTF-8 bytes.
void append_spelled_bytes(std::string_view spelling, std::string& bytes);

}  // namespace odb
