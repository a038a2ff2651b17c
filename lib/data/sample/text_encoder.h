// What a sample needs of a tokenizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/tokenizer/token_id.h"

namespace odb {

class TextEncoder {
 public:
  virtual ~TextEncoder() = default;

  // Appends the ids of `text`, in which control tokens are plain text. Throws DataError when `text`
  // cannot be encoded.
  virtual void encode(std::string_view text, std::vector<TokenId>& ids) = 0;

  // The same, and finds out which bytes each token stands for: appends for each id the offset
  // behind its last byte (never falling) to `ends`. `borders` are offsets into `text`. Where the
  // tokenizer normalises, both count in the normal form, to which `borders` are moved: a border
  // becomes the length of what was before it.
  virtual void encode_between(std::string_view text, std::vector<std::uint32_t>& borders,
                              std::vector<TokenId>& ids, std::vector<std::uint32_t>& ends) = 0;
};

}  // namespace odb
