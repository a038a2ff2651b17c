// One splitting step of a pre-tokenizer: cuts parts of a text into smaller parts. Words are what is
// left after the last step; a merge never crosses their borders.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace odb {

// Bytes [begin, end) of the text. Texts are under 2 GiB; Encoder checks that.
struct Span {
  std::uint32_t begin;
  std::uint32_t end;

  std::string_view of(std::string_view text) const { return text.substr(begin, end - begin); }
  bool operator==(const Span&) const = default;
};

class Splitter {
 public:
  virtual ~Splitter() = default;

  // Appends the pieces of each part to `out`, in order and without empty ones. The rule sees
  // nothing outside a part: no look-ahead crosses its end. `text` is valid UTF-8 and parts begin
  // and end between characters. Any number of threads may call it. Throws DataError if a pattern
  // needs more steps than its limit.
  virtual void split(std::string_view text, std::span<const Span> parts,
                     std::vector<Span>& out) const = 0;
};

}  // namespace odb
