#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/nfc.h"
#include "tokenizer/utf8.h"

namespace odb {

Tokenizer Tokenizer::load(const std::filesystem::path& path) {
  return Tokenizer(read_tokenizer_file(path));
}

Tokenizer Tokenizer::parse(std::string_view json, const std::string& where) {
  return Tokenizer(parse_tokenizer_file(json, where));
}

Tokenizer::Tokenizer(TokenizerParts parts)
    : parts_(std::move(parts)),
      raw_matcher_(select_added(false)),
      normalized_matcher_(select_added(true)),
      is_control_(parts_.vocabulary.size()) {
  for (const AddedToken& token : parts_.added_tokens) {
    if (token.special) is_control_[token.id] = true;
  }
}

std::vector<AddedToken> Tokenizer::select_added(bool normalized) const {
  std::vector<AddedToken> selected;
  std::string scratch;
  for (const AddedToken& token : parts_.added_tokens) {
    if (token.normalized != normalized) continue;
    selected.push_back(token);
    if (normalized && parts_.normalize_nfc) {
      selected.back().content = normalize_nfc(token.content, scratch);
    }
  }
  return selected;
}

std::string_view Tokenizer::spelling(TokenId id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= size()) {
    throw DataError("there is no token {}; ids go from 0 to {}", id, size() - 1);
  }
  return parts_.vocabulary.spelling(id);
}

bool Tokenizer::is_control(TokenId id) const {
  return id >= 0 && static_cast<std::size_t>(id) < size() && is_control_[id];
}

const AddedToken* Tokenizer::added_token(TokenId id) const {
  const auto found = std::find_if(parts_.added_tokens.begin(), parts_.added_tokens.end(),
                                  [id](const AddedToken& token) { return token.id == id; });
  return found == parts_.added_tokens.end() ? nullptr : &*found;
}

std::string Tokenizer::decode_bytes(std::span<const TokenId> ids, bool with_control_tokens) const {
  std::string bytes;
  for (const TokenId id : ids) {
    const std::string_view token = spelling(id);
    if (!with_control_tokens && is_control_[id]) continue;
    append_spelled_bytes(token, bytes);
  }
  return bytes;
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool with_control_tokens) const {
  return replace_invalid_utf8(decode_bytes(ids, with_control_tokens));
}

}  // namespace odb
