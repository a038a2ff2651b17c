// How many bytes of text each token stands for, so that the position of a token in its text follows
// from the ids alone.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace odb {

// Immutable; made once per tokenizer and shared. 5 bytes a token.
class TokenBytes {
 public:
  // Keeps no reference to `tokenizer`.
  explicit TokenBytes(const Tokenizer& tokenizer);

  // Appends the end offset of each id in `text`. `ids` are the encoding of `text` (in the
  // tokenizer's normal form). Blanks that an added token strips (lstrip, rstrip) belong to it. The
  // last offset is always the size of the text.
  void append_ends(std::string_view text, std::span<const TokenId> ids,
                   std::vector<std::uint32_t>& ends) const;

 private:
  enum Flag : std::uint8_t { strips_left = 1, strips_right = 2 };
  std::vector<std::uint32_t> bytes_;
  std::vector<std::uint8_t> flags_;
};

}  // namespace odb
