// What a sample needs of a tokenizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"

namespace odb {

class TextEncoder {
 public:
  virtual ~TextEncoder() = default;

  // Appends the ids of `text`, in which control tokens are plain text. Throws DataError when `text`
  // cannot be encoded.
  virtual void encode(std::string_view text, std::vector<TokenId>& ids) = 0;

  // The same, and finds the bytes of each token: appends to `ends` the end offset of each id (never
  // decreasing). `borders` are offsets into `text`. If the tokenizer normalizes, both refer to the
  // normal form: each border is replaced by the length of the normal form of the text before it.
  virtual void encode_between(std::string_view text, std::vector<std::uint32_t>& borders,
                              std::vector<TokenId>& ids, std::vector<std::uint32_t>& ends) = 0;
};

}  // namespace odb
