// A byte-level BPE tokenizer, equal id for id to Hugging Face tokenizers 0.22 on the same
// tokenizer.json (docs/tokenizer.md lists the limits).
//
// Immutable once loaded: load it before forking and all processes share its memory; any number of
// threads may use it. Encoding needs working space and a cache, which an Encoder holds.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/token_id.h"
#include "tokenizer/tokenizer_file.h"

namespace odb {

class Tokenizer {
 public:
  // `path`: a tokenizer.json or a folder that holds one. Throws FileError when it cannot be read,
  // DataError (file, component, reason) when it is malformed or uses unsupported features.
  static Tokenizer load(const std::filesystem::path& path);
  // The same from memory; `where` opens the messages.
  static Tokenizer parse(std::string_view json, const std::string& where);

  // Ids are 0 .. size()-1, without holes.
  std::size_t size() const { return parts_.vocabulary.size(); }

  // By the file's spelling: "Ġthe", "<|im_end|>".
  std::optional<TokenId> find(std::string_view token) const {
    return parts_.vocabulary.find(token);
  }
  // Throws DataError when there is no such id.
  std::string_view spelling(TokenId id) const;

  // Whether the id belongs to an added token marked special.
  bool is_control(TokenId id) const;
  // The added token of an id, or null.
  const AddedToken* added_token(TokenId id) const;
  const std::vector<AddedToken>& added_tokens() const { return parts_.added_tokens; }
  // Whether texts are brought into form C before they are split.
  bool normalizes_nfc() const { return parts_.normalize_nfc; }
  // What the file puts around a whole text; usually empty. encode() never adds it: a chat template
  // contains its own.
  const SequenceFrame& frame() const { return parts_.frame; }

  // The text of `ids`; bytes that form no UTF-8 become U+FFFD. Throws DataError for an unknown id.
  std::string decode(std::span<const TokenId> ids, bool with_control_tokens = true) const;
  // The same as raw bytes, unrepaired.
  std::string decode_bytes(std::span<const TokenId> ids, bool with_control_tokens = true) const;

 private:
  friend class Encoder;
  explicit Tokenizer(TokenizerParts parts);
  std::vector<AddedToken> select_added(bool normalized) const;

  TokenizerParts parts_;
  AddedTokenMatcher raw_matcher_;         // on the text as it comes
  AddedTokenMatcher normalized_matcher_;  // on the rest, normalized
  std::vector<bool> is_control_;          // by id
};

}  // namespace odb
