// Character classes, as the splitting rules of tokenizers see them.
//
// The table is that of Hugging Face tokenizers 0.22 for every code point (see
// scripts/make_code_point_ranges.py). It is independent of the Unicode version of the system's
// libraries: a letter that was added to Unicode later must stay a non-letter here, or ids would
// differ from those that the model was trained on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace odb {

enum CodePointClass : std::uint8_t {
  letter = 1,       // \p{L} of patterns
  number = 2,       // \p{N} of patterns
  mark = 4,         // \p{M} of patterns
  space = 8,        // \s of patterns, and what added tokens strip
  word = 16,        // what a single-word added token must not touch
  numeric = 32,     // what the Digits pre-tokenizer splits at (newer Unicode than `number`)
  nfc_check = 64,   // NFC may change, move or merge it; all others keep their place
  nfc_opaque = 128  // unknown to the reference's NFC: never changed, nothing moves across it
};

// Classes of all code points, in two stages of 256 (about 60 KB). Immutable, shared by all threads.
class CodePointTable {
 public:
  // REQUIRES: code_point < 0x110000.
  std::uint8_t operator[](std::uint32_t code_point) const {
    return pages_[page_of_[code_point >> 8]][code_point & 0xFF];
  }
  const std::array<std::uint8_t, 256>& latin() const { return pages_[0]; }

 private:
  friend const CodePointTable& code_point_table();
  CodePointTable();

  std::array<std::uint8_t, 0x1100> page_of_;
  std::vector<std::array<std::uint8_t, 256>> pages_;
};

// Built at first use in about a millisecond.
const CodePointTable& code_point_table();

namespace detail {
struct CodePointRange {
  std::uint32_t first;
  std::uint8_t classes;
};
extern const CodePointRange kCodePointRanges[];
extern const std::size_t kCodePointRangeCount;

// Code points that Unicode 14 does not have and the reference has (it is at 16), with their general
// category ("Lo") and whether \w matches them. Neighboring ranges differ in these.
struct NewerRange {
  std::uint32_t first;
  std::uint32_t last;
  const char* category;
  bool is_word;
};
extern const NewerRange kNewerRanges[];
extern const std::size_t kNewerRangeCount;
}  // namespace detail

}  // namespace odb
