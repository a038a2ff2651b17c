#include "tokenizer/word_scanner.h"

#include <bit>
#include <cstring>

#include "tokenizer/ascii_words.h"
#include "tokenizer/code_points.h"
#include "tokenizer/utf8.h"

namespace odb {

// Kept together on purpose: the differences between the families are easy to miss.
const std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
const std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)"
    R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string_view kQwen35Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {

struct Gpt2Rules {
  static constexpr std::uint8_t kLetters = letter;
  static constexpr bool kOldStyle = true;  // only a blank leads a word, line ends are plain blanks
  static constexpr int kDigits = 0;        // any number of them
};
struct Qwen2Rules {
  static constexpr std::uint8_t kLetters = letter;
  static constexpr bool kOldStyle = false;
  static constexpr int kDigits = 1;
};
struct Llama3Rules : Qwen2Rules {
  static constexpr int kDigits = 3;
};
struct Qwen35Rules : Qwen2Rules {
  static constexpr std::uint8_t kLetters = letter | mark;
};

static_assert(std::endian::native == std::endian::little, "letters_in reads bytes as one integer");

// How many of the eight bytes, counted from the first, are ASCII letters.
int letters_in(std::uint64_t eight) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = kOnes << 7;
  const std::uint64_t folded = (eight | kOnes * 0x20) & ~kHigh;
  const std::uint64_t from_a = folded + kOnes * (0x80 - 'a');
  const std::uint64_t beyond_z = folded + kOnes * (0x80 - 'z' - 1);
  const std::uint64_t others = ~(from_a & ~beyond_z & ~eight) & kHigh;
  return std::countr_zero(others) / 8;  // 64 / 8 when all are letters
}

bool is_ascii_letter(char character) {
  return static_cast<unsigned char>((character | 0x20) - 'a') < 26;
}

bool is_line_end(std::uint32_t character) {
  return character == '\r' || character == '\n';
}

// Reads one part of a text. Positions are pointers into it.
template <typename Rules>
class Scan {
 public:
  Scan(const char* end, const CodePointTable& table)
      : end_(end), table_(table), latin_(table.latin()) {}

  // The end of the word that starts at `at`. REQUIRES: at < end.
  const char* word_end(const char* at) const {
    if (*at == ' ' && end_ - at > 1 && is_ascii_letter(at[1])) return skip_letters(at + 2);
    const Character first = read(at);
    const char* next = at + first.bytes;
    if (first.classes & Rules::kLetters) return skip_letters(next);
    if (first.classes & number) return skip_numbers(next);
    if (first.value == '\'') {
      if (const char* end = contraction_end(next)) return end;
    }
    const bool is_blank = first.value == ' ';
    if (next < end_ && (Rules::kOldStyle ? is_blank : !is_line_end(first.value))) {
      const Character second = read(next);
      if (second.classes & Rules::kLetters) return skip_letters(next + second.bytes);
      if (Rules::kOldStyle && (second.classes & number)) return skip_numbers(next + second.bytes);
      if (is_blank && is_symbol(second)) return skip_symbols(next + second.bytes);
    }
    if (is_symbol(first)) return skip_symbols(next);
    return space_end(at);
  }

  // The end of s, t, re, ve, m, ll or d after an apostrophe, or null. Ignores case, except with
  // GPT-2; this includes the long s (U+017F).
  const char* contraction_end(const char* at) const {
    const auto letter_at = [this](const char* place) {
      if (place >= end_) return '\0';
      return static_cast<char>(Rules::kOldStyle ? *place : (*place | 0x20));
    };
    const char first = letter_at(at);
    const char second = letter_at(at + 1);
    switch (first) {
      case 's':
      case 't':
      case 'm':
      case 'd':
        return at + 1;
      case 'r':
      case 'v':
        return second == 'e' ? at + 2 : nullptr;
      case 'l':
        return second == 'l' ? at + 2 : nullptr;
      default:
        break;
    }
    const bool long_s = !Rules::kOldStyle && end_ - at >= 2 && std::memcmp(at, "\xC5\xBF", 2) == 0;
    return long_s ? at + 2 : nullptr;
  }

 private:
  struct Character {
    std::uint32_t value;
    std::uint32_t bytes;
    std::uint8_t classes;
  };

  Character read(const char* at) const {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x80) return {byte, 1, latin_[byte]};
    const CodePoint code_point = read_code_point(at);
    return {code_point.value, code_point.bytes, table_[code_point.value]};
  }

  static bool is_symbol(const Character& character) {
    return !(character.classes & (space | number | Rules::kLetters));
  }

  const char* skip_letters(const char* at) const {
    while (at < end_) {
      if (end_ - at >= 8) {
        std::uint64_t eight;
        std::memcpy(&eight, at, 8);
        const int letters = letters_in(eight);
        at += letters;
        if (letters == 8) continue;
        if (static_cast<unsigned char>(*at) < 0x80) break;  // no ASCII mark exists
      }
      const Character next = read(at);
      if (!(next.classes & Rules::kLetters)) break;
      at += next.bytes;
    }
    return at;
  }

  // `at` is after the first number.
  const char* skip_numbers(const char* at) const {
    for (std::int64_t count = 1; at < end_ && count != Rules::kDigits; ++count) {
      const Character next = read(at);
      if (!(next.classes & number)) break;
      at += next.bytes;
    }
    return at;
  }

  const char* skip_symbols(const char* at) const {
    while (at < end_) {
      const Character next = read(at);
      if (!is_symbol(next)) break;
      at += next.bytes;
    }
    if (!Rules::kOldStyle) {
      while (at < end_ && is_line_end(static_cast<unsigned char>(*at)))
        ++at;
    }
    return at;
  }

  // `at` is at white space that leads no word: up to the last line end of the run if there is one,
  // else all of it but its last character, which belongs to what follows.
  const char* space_end(const char* at) const {
    const char* after_line_end = nullptr;
    const char* last = at;
    const char* next = at;
    while (next < end_) {
      const Character character = read(next);
      if (!(character.classes & space)) break;
      last = next;
      next += character.bytes;
      if (!Rules::kOldStyle && is_line_end(character.value)) after_line_end = next;
    }
    if (after_line_end != nullptr) return after_line_end;
    return next == end_ || last == at ? next : last;
  }

  const char* end_;
  const CodePointTable& table_;
  const std::array<std::uint8_t, 256>& latin_;
};

template <typename Rules>
class WordScanner final : public Splitter {
 public:
  WordScanner() : table_(code_point_table()) {}

  void split(std::string_view text, std::span<const Span> parts,
             std::vector<Span>& out) const override {
    for (const Span part : parts)
      split_part(text, part, out);
  }

 private:
  void split_part(std::string_view text, Span part, std::vector<Span>& out) const {
    const char* end = text.data() + part.end;
    const Scan<Rules> scan(end, table_);
    std::uint32_t begin = part.begin;  // of the next word
    const auto end_word = [&begin, &out](std::uint32_t place) {
      out.push_back({begin, place});
      begin = place;
    };
    std::uint32_t one_by_one_until = begin;
    while (begin < part.end) {
      const char* at = text.data() + begin;
      if (Rules::kOldStyle || begin < one_by_one_until) {
        end_word(static_cast<std::uint32_t>(scan.word_end(at) - text.data()));
        continue;
      }
      const std::uint32_t block = begin;
      std::uint64_t ends = block_ends(scan, at, end);
      if (ends == 0) one_by_one_until = block + AsciiWords::kBlock;
      for (; ends != 0; ends &= ends - 1)
        end_word(block + static_cast<std::uint32_t>(std::countr_zero(ends)));
    }
  }

  // The ends of the words of a block, as AsciiWords returns them, with those of contractions.
  std::uint64_t block_ends(const Scan<Rules>& scan, const char* at, const char* end) const {
    AsciiWords::Block block = ascii_words_.read(at, static_cast<std::size_t>(end - at));
    for (; block.quotes != 0; block.quotes &= block.quotes - 1) {
      const char* after = scan.contraction_end(at + std::countr_zero(block.quotes) + 1);
      if (after != nullptr && after - at < static_cast<std::ptrdiff_t>(AsciiWords::kBlock))
        block.ends |= std::uint64_t{1} << (after - at);
    }
    return block.ends;
  }

  const CodePointTable& table_;
  AsciiWords ascii_words_{Rules::kDigits == 1};
};

}  // namespace

std::unique_ptr<Splitter> make_word_scanner(std::string_view pattern) {
  if (pattern == kGpt2Pattern) return std::make_unique<WordScanner<Gpt2Rules>>();
  if (pattern == kQwen2Pattern) return std::make_unique<WordScanner<Qwen2Rules>>();
  if (pattern == kLlama3Pattern) return std::make_unique<WordScanner<Llama3Rules>>();
  if (pattern == kQwen35Pattern) return std::make_unique<WordScanner<Qwen35Rules>>();
  return nullptr;
}

}  // namespace odb
