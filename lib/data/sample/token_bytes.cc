#include "data/sample/token_bytes.h"

#include <algorithm>

#include "tokenizer/code_points.h"
#include "tokenizer/nfc.h"
#include "tokenizer/utf8.h"

namespace odb {
namespace {

// Bytes of the white space that `text` starts with.
std::size_t leading_space(std::string_view text) {
  const CodePointTable& table = code_point_table();
  std::size_t at = 0;
  while (at < text.size()) {
    const CodePoint next = read_code_point(text.data() + at);
    if ((table[next.value] & CodePointClass::space) == 0) break;
    at += next.bytes;
  }
  return at;
}

}  // namespace

TokenBytes::TokenBytes(const Tokenizer& tokenizer)
    : bytes_(tokenizer.size()), flags_(tokenizer.size()) {
  for (std::size_t id = 0; id < bytes_.size(); ++id) {
    const auto token = static_cast<TokenId>(id);
    bytes_[id] = static_cast<std::uint32_t>(tokenizer.decode_bytes(std::span(&token, 1)).size());
  }
  std::string scratch;
  for (const AddedToken& added : tokenizer.added_tokens()) {
    const auto id = static_cast<std::size_t>(added.id);
    // An added token appears in the text as written; its spelling may decode to something shorter.
    bytes_[id] = static_cast<std::uint32_t>(tokenizer.normalizes_nfc()
                                                ? normalize_nfc(added.content, scratch).size()
                                                : added.content.size());
    flags_[id] = static_cast<std::uint8_t>((added.lstrip ? strips_left : 0) |
                                           (added.rstrip ? strips_right : 0));
  }
}

void TokenBytes::append_ends(std::string_view text, std::span<const TokenId> ids,
                             std::vector<std::uint32_t>& ends) const {
  std::size_t at = 0;
  for (const TokenId id : ids) {
    const auto token = static_cast<std::size_t>(id);
    if ((flags_[token] & strips_left) != 0) at += leading_space(text.substr(at));
    at = std::min<std::size_t>(at + bytes_[token], text.size());
    if ((flags_[token] & strips_right) != 0) at += leading_space(text.substr(at));
    ends.push_back(static_cast<std::uint32_t>(at));
  }
  if (!ids.empty()) ends.back() = static_cast<std::uint32_t>(text.size());
}

}  // namespace odb
