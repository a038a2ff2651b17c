#include "tokenizer/ascii_words.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace odb {

namespace {

// Sixteen bytes that are compared at once, with the instructions of the target machine (GCC,
// Clang).
using Bytes = std::uint8_t __attribute__((vector_size(16)));

// Bit i: byte i of a comparison's result (0xFF or 0) is set.
std::uint64_t bits_of(Bytes result) {
#ifdef __SSE2__
  return static_cast<std::uint32_t>(_mm_movemask_epi8(reinterpret_cast<__m128i>(result)));
#else
  static_assert(std::endian::native == std::endian::little, "bytes are read as integers");
  std::array<std::uint64_t, 2> halves;
  std::memcpy(halves.data(), &result, sizeof(result));
  // The product moves bit 0 of byte k to bit 56 + k; no two of its terms meet.
  for (std::uint64_t& half : halves)
    half = (half & 0x0101010101010101) * 0x0102040810204080 >> 56;
  return halves[0] | halves[1] << 8;
#endif
}

// The bytes of each class, a bit for each.
struct Classes {
  std::uint64_t letters = 0;
  std::uint64_t numbers = 0;
  std::uint64_t blanks = 0;  // ' '
  std::uint64_t spaces = 0;  // white space except line ends; includes blanks
  std::uint64_t line_ends = 0;
  std::uint64_t quotes = 0;
  std::uint64_t beyond = 0;  // not ASCII
};

// The classes of the block at `at`; bytes after the first `left` are in no class.
Classes classify(const char* at, std::size_t left) {
  std::array<char, AsciiWords::kBlock> padded;
  if (left < padded.size()) {
    padded.fill(0);
    std::memcpy(padded.data(), at, left);
    at = padded.data();
  }
  Classes result;
  for (std::size_t i = 0; i < padded.size(); i += sizeof(Bytes)) {
    Bytes bytes;
    std::memcpy(&bytes, at + i, sizeof(bytes));
    const auto among = [](Bytes tested, std::uint8_t first, std::uint8_t last) {
      return reinterpret_cast<Bytes>(tested - first <= static_cast<std::uint8_t>(last - first));
    };
    const auto equal = [bytes](char wanted) {
      return reinterpret_cast<Bytes>(bytes == static_cast<std::uint8_t>(wanted));
    };
    const Bytes blanks = equal(' ');
    const Bytes line_ends = equal('\r') | equal('\n');
    result.letters |= bits_of(among(bytes | std::uint8_t{0x20}, 'a', 'z')) << i;
    result.numbers |= bits_of(among(bytes, '0', '9')) << i;
    result.blanks |= bits_of(blanks) << i;
    result.spaces |= bits_of((among(bytes, '\t', '\r') & ~line_ends) | blanks) << i;
    result.line_ends |= bits_of(line_ends) << i;
    result.quotes |= bits_of(equal('\'')) << i;
    result.beyond |= bits_of(reinterpret_cast<Bytes>(bytes >= std::uint8_t{0x80})) << i;
  }
  return result;
}

}  // namespace

AsciiWords::Block AsciiWords::read(const char* at, std::size_t left) const {
  const Classes is = classify(at, left);
  const std::uint64_t white = is.spaces | is.line_ends;
  const std::uint64_t symbols = ~(is.letters | is.numbers | white);
  const auto after = [](std::uint64_t bits) { return bits << 1; };  // the bytes after those
  const bool mixed = (is.spaces & after(is.line_ends)) | (is.line_ends & after(is.spaces));
  const std::uint64_t digit_pairs = is.numbers & after(is.numbers);
  const bool many_digits = !single_digits_ && (digit_pairs & after(after(digit_pairs)));
  if (is.beyond || mixed || many_digits) return {};

  const std::uint64_t first_symbols = symbols & ~after(symbols | is.blanks);
  // A lone symbol is the first character of the word after it; white space always is.
  const std::uint64_t first_letters = is.letters & ~after(is.letters | is.spaces | first_symbols);
  const std::uint64_t first_numbers = single_digits_ ? is.numbers : is.numbers & ~digit_pairs;
  const std::uint64_t first_spaces = is.spaces & ~after(is.spaces);
  // The last character of a run of white space leads the next word. What follows the last byte of
  // the block is unknown, or nothing.
  const std::uint64_t last = std::uint64_t{1} << (std::min(left, kBlock) - 1);
  const std::uint64_t last_spaces = is.spaces & ~(white >> 1) & ~last;
  // Line ends directly after symbols belong to them.
  const std::uint64_t first_line_ends = is.line_ends & ~after(is.line_ends | symbols);
  Block block{.ends = first_symbols | first_letters | first_numbers | first_spaces | last_spaces |
                      first_line_ends,
              .quotes = is.quotes & first_symbols & is.letters >> 1};
  block.ends &= ~std::uint64_t{1};
  if (left < kBlock) {
    const std::uint64_t end = last << 1;
    block.ends = (block.ends & (end - 1)) | end;
  }
  return block;
}

}  // namespace odb
