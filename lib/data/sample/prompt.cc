#include "data/sample/prompt.h"

#include "data/tokenizer/encoder.h"

namespace odb {
namespace {

constexpr std::string_view kAnswer = "answer";  // any text

Rendering render(const SampleMaking& making, const ChatPrompt& prompt) {
  Conversation conversation;
  if (!prompt.system.empty())
    conversation.messages.push_back({.role = Role::system, .content = prompt.system});
  conversation.messages.push_back({.role = Role::user, .content = prompt.user});
  conversation.messages.push_back({.role = Role::assistant, .content = kAnswer});
  Rendering rendering;
  making.chat_template().render(conversation, rendering);
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

std::vector<TokenId> chat_prompt(const SampleMaking& making, const ChatPrompt& prompt) {
  const Rendering rendering = render(making, prompt);
  std::vector<TokenId> ids;
  Encoder(making.tokenizer()).encode(pieces_before_answer(rendering), ids);
  return ids;
}

std::vector<TokenId> raw_prompt(const SampleMaking& making, std::string_view text) {
  std::vector<TokenId> ids = making.tokenizer().frame().prefix;
  Encoder(making.tokenizer()).encode(text, ids);
  return ids;
}

std::vector<TokenId> answer_ends(const SampleMaking& making) {
  std::vector<TokenId> ends;
  const Rendering rendering = render(making, {.system = "", .user = "question"});
  for (const Piece& piece : rendering.pieces())
    if (piece.answer != kNoAnswer && !piece.is_text()) ends.push_back(piece.control);
  if (making.end_of_text()) ends.push_back(*making.end_of_text());
  return ends;
}

}  // namespace odb
