#include "data/sample/tokenizer_text.h"

namespace odb {

void TokenizerText::encode_between(std::string_view text, std::vector<std::uint32_t>& borders,
                                   std::vector<TokenId>& ids, std::vector<std::uint32_t>& ends) {
  const std::size_t before = ids.size();
  encoder_.encode(text, ids);
  const std::string_view normal = normalizes_ ? normalize_nfc(text, normalized_) : text;
  if (normal.data() != text.data())
    for (std::uint32_t& border : borders)
      border = static_cast<std::uint32_t>(
          normalize_nfc(text.substr(0, border), normalized_part_).size());
  bytes_.append_ends(normal, std::span<const TokenId>(ids).subspan(before), ends);
}

}  // namespace odb
