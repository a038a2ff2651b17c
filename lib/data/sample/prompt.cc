#include "data/sample/prompt.h"

#include "tokenizer/encoder.h"

namespace odb {
namespace {

constexpr std::string_view kAnswer = "answer";  // any text

Rendering render(const Preprocessor& preprocessor, const ChatPrompt& prompt) {
  Conversation conversation;
  if (!prompt.system.empty())
    conversation.messages.push_back({.role = Role::system, .content = prompt.system});
  conversation.messages.push_back({.role = Role::user, .content = prompt.user});
  conversation.messages.push_back({.role = Role::assistant, .content = kAnswer});
  Rendering rendering;
  preprocessor.chat_template().render(conversation, rendering);
  return rendering;
}

std::vector<TextPiece> pieces_before_answer(const Rendering& rendering) {
  std::vector<TextPiece> pieces;
  for (const Piece& piece : rendering.pieces()) {
    if (piece.answer != kNoAnswer) break;
    if (piece.is_text())
      pieces.push_back(
          {.text =
               std::string_view(rendering.text()).substr(piece.begin, piece.end - piece.begin)});
    else
      pieces.push_back({.control = piece.control});
  }
  return pieces;
}

}  // namespace

std::vector<TokenId> chat_prompt(const Preprocessor& preprocessor, const ChatPrompt& prompt) {
  const Rendering rendering = render(preprocessor, prompt);
  std::vector<TokenId> ids;
  Encoder(preprocessor.tokenizer()).encode(pieces_before_answer(rendering), ids);
  return ids;
}

std::vector<TokenId> raw_prompt(const Preprocessor& preprocessor, std::string_view text) {
  std::vector<TokenId> ids = preprocessor.tokenizer().frame().prefix;
  Encoder(preprocessor.tokenizer()).encode(text, ids);
  return ids;
}

std::vector<TokenId> template_ends(const Preprocessor& preprocessor) {
  std::vector<TokenId> ends;
  if (!preprocessor.has_chat_template()) return ends;
  const Rendering rendering = render(preprocessor, {.system = "", .user = "question"});
  for (const Piece& piece : rendering.pieces())
    if (piece.answer != kNoAnswer && !piece.is_text()) ends.push_back(piece.control);
  return ends;
}

}  // namespace odb
