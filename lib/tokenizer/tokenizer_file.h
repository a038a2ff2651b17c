// The file format: a tokenizer.json, as Hugging Face tokenizers writes it, split into the parts
// that encoding uses. Refuses by name everything that we do not handle as the reference does;
// docs/tokenizer.md lists what is supported.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/merges.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/token_id.h"
#include "tokenizer/vocabulary.h"

namespace odb {

// What the file puts around a whole text (Llama 3: one <|begin_of_text|> before it).
struct SequenceFrame {
  std::vector<TokenId> prefix;
  std::vector<TokenId> suffix;
};

struct TokenizerParts {
  Vocabulary vocabulary;  // of the model and the added tokens, sealed
  MergeTable merges;
  bool ignore_merges = false;  // a word that is a token is that token, whatever the merges say
  bool normalize_nfc = false;
  PreTokenizer pre_tokenizer;
  std::vector<AddedToken> added_tokens;  // in the file's order
  SequenceFrame frame;
};

// Reads `json`; `where` (the file's name) opens every message. Throws DataError.
TokenizerParts parse_tokenizer_file(std::string_view json, const std::string& where);

// The same from a file or from the tokenizer.json of a folder. Throws FileError when it cannot be
// read.
TokenizerParts read_tokenizer_file(const std::filesystem::path& path);

}  // namespace odb
