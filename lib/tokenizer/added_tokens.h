// Added tokens: strings that are found in text before anything else happens to it, and never cut.
// Control tokens ("<|im_start|>") are added tokens with the mark `special`.
//
// The rules are those of Hugging Face tokenizers: the leftmost match wins, and the longest one
// among those that start there; a match that its token's single_word flag forbids is skipped as a
// whole; lstrip and rstrip take neighboring white space into the token.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"

namespace odb {

struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool single_word = false;  // matches only between non-word characters
  bool lstrip = false;       // takes the white space on its left
  bool rstrip = false;
  bool normalized = false;  // searched after normalization of the text, else before
  bool special = false;     // a control token
};

// Text without the white space (class `space`) at its left or right end.
std::string_view strip_left(std::string_view text);
std::string_view strip_right(std::string_view text);

// Whether control tokens in a text count, or are plain text.
enum class ControlTokens { found, plain };

// A stretch of text: an added token (id) or what lies between them (kText).
struct Section {
  static constexpr TokenId kText = -1;
  TokenId id;
  std::size_t begin;
  std::size_t end;
};

class AddedTokenMatcher {
 public:
  // Searches for `tokens[i].content`. Of equal contents the first one counts.
  explicit AddedTokenMatcher(std::vector<AddedToken> tokens);

  // Appends the sections of `text` (valid UTF-8) to `out`; text sections are never empty. A control
  // token that is plain text is skipped as a whole: no shorter token inside it is found either.
  void split(std::string_view text, ControlTokens control, std::vector<Section>& out) const;

  bool is_empty() const { return tokens_.empty(); }
  // False only if split() would find nothing: `text` has no byte that a token begins with.
  bool may_match(std::string_view text) const { return next_candidate(text, 0) < text.size(); }

 private:
  static constexpr std::uint32_t kNoToken = UINT32_MAX;
  // A node of the trie over bytes. Children are a list by siblings: there are few.
  struct Node {
    std::uint32_t first_child = 0;
    std::uint32_t sibling = 0;
    std::uint32_t token = kNoToken;
    std::uint8_t byte = 0;
  };
  struct Found {
    std::uint32_t token;
    std::size_t begin;
    std::size_t end;
  };

  std::uint32_t child(std::uint32_t node, std::uint8_t byte) const;
  std::size_t next_candidate(std::string_view text, std::size_t from) const;
  std::optional<Found> find(std::string_view text, std::size_t from) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_;  // [0] is the root
  std::array<bool, 256> is_first_byte_{};
  std::optional<char> only_first_byte_;  // set when all tokens begin with the same byte
};

}  // namespace odb
