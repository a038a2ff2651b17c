// Where words end in ASCII text, for 64 bytes at once, under the patterns of Qwen2, Llama 3 and
// Qwen3.5. Each class of characters becomes the bits of one integer, and the ends are a formula of
// these: no branch has to be guessed, which is what reading word by word spends its time on.
//
// These patterns look ahead, never back, so that a block may begin at any word.
#pragma once

#include <cstddef>
#include <cstdint>

namespace odb {

class AsciiWords {
 public:
  static constexpr std::size_t kBlock = 64;

  struct Block {
    // Bit i: a word ends before byte i; of a text that ends in the block also its own end. None:
    // this block is for the general scanner (characters beyond ASCII, mixed white space, long runs
    // of digits, or a word that fills it).
    std::uint64_t ends = 0;
    // Apostrophes that begin a word and have a letter behind them: if it is a contraction ('s, 'll)
    // it ends a word too.
    std::uint64_t quotes = 0;
  };

  // Numbers are words of one digit, or of up to three.
  explicit AsciiWords(bool single_digits) : single_digits_(single_digits) {}

  // Of the text of `left` bytes at `at`, where a word begins. REQUIRES: left > 0.
  Block read(const char* at, std::size_t left) const;

 private:
  bool single_digits_;
};

}  // namespace odb
