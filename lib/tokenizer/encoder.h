// Text to ids. An Encoder is the mutable side of a Tokenizer: it caches words and holds the
// buffers, so that encoding allocates nothing once warm. One per thread or process (8 MB by
// default); the Tokenizer itself is shared.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/bpe.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/word_cache.h"

namespace odb {

struct EncoderOptions {
  // Control tokens typed into content count as such (--parse-special-in-text). Off: they are plain
  // text, so that no row of data can open a turn of its own.
  bool parse_special_in_text = false;
  std::size_t cache_bytes = 8 << 20;  // of the word cache; rounded to a power of two, at least 4 KB
};

// Text, or one control token by its id.
struct TextPiece {
  static constexpr TokenId kNoControl = -1;
  std::string_view text;
  TokenId control = kNoControl;
};

class Encoder {
 public:
  // Keeps a reference to `tokenizer`, which must outlive it.
  explicit Encoder(const Tokenizer& tokenizer, EncoderOptions options = {});

  // Appends the ids of `text`, taken as content, to `ids`. Added tokens that are not control tokens
  // ("<think>") are found in it. Throws DataError, with `ids` unchanged, when the text is not valid
  // UTF-8 (naming the first bad byte) or has 2 GiB or more.
  void encode(std::string_view text, std::vector<TokenId>& ids);

  // Appends the ids of the pieces. Adjacent texts are one text: merges cross from one to the next,
  // as they do when a rendered string is encoded as a whole. White space next to a control token
  // goes into it if its strip flags say so. Throws DataError also if a control piece names no added
  // token.
  void encode(std::span<const TextPiece> pieces, std::vector<TokenId>& ids);

  std::vector<TokenId> encode(std::string_view text);

 private:
  // `ascii`: the text is all ASCII and needs no normalization.
  void encode_valid(std::string_view text, bool ascii, std::vector<TokenId>& ids);
  void encode_section(std::string_view text, bool ascii, std::vector<TokenId>& ids);
  void encode_words(std::string_view text, std::vector<TokenId>& ids);
  void encode_new_word(std::string_view word);
  std::span<const TokenId> long_word(std::string_view word);

  // A word that will be looked up next. No key: too long for the short table.
  struct Ahead {
    WordCache::ShortKey key;
    std::size_t set = 0;
  };
  static constexpr std::size_t kWordsAhead = 32;
  void look_ahead(std::string_view base, std::span<const Span> block);
  void encode_block(std::string_view base, std::span<const Span> block, std::vector<TokenId>& ids);
  std::span<const TokenId> new_short_word(std::string_view word, const Ahead& ahead);

  const Tokenizer& tokenizer_;
  ControlTokens control_;
  BytePairEncoder bpe_;
  WordCache cache_;

  std::string joined_;  // adjacent texts
  std::vector<Section> sections_;
  std::vector<Section> inner_sections_;
  std::string normalized_;
  PreTokenizer::Scratch scratch_;
  std::array<Ahead, kWordsAhead> ahead_;
  std::vector<TokenId> new_tokens_;
};

}  // namespace odb
