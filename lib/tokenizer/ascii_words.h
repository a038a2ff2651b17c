// Where words end in ASCII text, for 64 bytes at once, under the patterns of Qwen2, Llama 3 and
// Qwen3.5. Each character class becomes the bits of one integer, and a formula of these gives the
// ends. This avoids the mispredicted branches that dominate the time of reading word by word.
//
// These patterns look ahead, never back, so a block may begin at any word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace odb {

class AsciiWords {
 public:
  static constexpr std::size_t kBlock = 64;

  struct Block {
    // Bit i: a word ends before byte i. If the text ends in the block, this includes its end. 0:
    // use the general scanner for this block (characters beyond ASCII, mixed white space, long runs
    // of digits, or a word that fills it).
    std::uint64_t ends = 0;
    // Apostrophes that begin a word and are followed by a letter: a contraction ('s, 'll) ends a
    // word too.
    std::uint64_t quotes = 0;
  };

  // Numbers are words of one digit, or of up to three.
  explicit AsciiWords(bool single_digits) : single_digits_(single_digits) {}

  // Reads the text of `left` bytes at `at`, where a word begins. REQUIRES: left > 0.
  Block read(const char* at, std::size_t left) const;

 private:
  bool single_digits_;
};

}  // namespace odb
