// The output of a chat template: texts and control tokens in order, and which of them are answers.
// Spans are thus known by construction; no text is searched and nothing is rendered twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/token_id.h"

namespace odb {

constexpr std::int32_t kNoAnswer = -1;

// Either text [begin, end) of Rendering::text(), or, when begin == end, one control token.
struct Piece {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  TokenId control = -1;
  std::int32_t answer = kNoAnswer;  // number of the answer that it belongs to

  bool is_text() const { return begin != end; }
  friend bool operator==(const Piece&, const Piece&) = default;
};

class Rendering {
 public:
  // Texts are joined with the text before them when both belong to the same answer, or to none.
  void add_text(std::string_view text);
  void add_control(TokenId token);

  // Pieces added between these two calls belong to the next answer. If `supervised` is false, the
  // answer is counted, but the pieces belong to none.
  void open_answer(bool supervised = true);
  void close_answer() { answer_ = kNoAnswer; }

  const std::string& text() const { return text_; }  // of all pieces, without control tokens
  const std::vector<Piece>& pieces() const { return pieces_; }
  std::int32_t answers() const { return answers_; }  // opened so far
  void clear();

 private:
  std::string text_;
  std::vector<Piece> pieces_;
  std::int32_t answer_ = kNoAnswer;
  std::int32_t answers_ = 0;
};

}  // namespace odb
