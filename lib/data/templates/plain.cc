#include "data/templates/plain.h"

#include "base/error.h"

namespace odb {

PlainTemplate::PlainTemplate(const TemplateTokens& tokens) {
  if (tokens.eos_token.empty())
    throw DataError(
        "the chat template plain needs an end-of-text token, but the tokenizer names no "
        "eos_token in tokenizer_config.json");
  eos_token_ = want_token(tokens, tokens.eos_token, "plain");
}

void PlainTemplate::render(const Conversation& conversation, Rendering& into) const {
  if (!conversation.tools.empty() || !conversation.tool_calls.empty())
    throw DataError("found tools or tool calls, which the template plain does not support");
  for (const Message& message : conversation.messages) {
    if (message.role == Role::tool)
      throw DataError("found a tool's result, which the template plain does not support");
    if (message.role != Role::assistant) {
      into.add_text(message.content);
      continue;
    }
    into.open_answer(message.supervised);
    into.add_text(message.content);
    into.add_control(eos_token_);
    into.close_answer();
  }
}

void render_text(std::string_view prompt, std::string_view completion,
                 std::span<const TokenId> end_tokens, Rendering& into) {
  into.add_text(prompt);
  into.open_answer();
  into.add_text(completion);
  for (const TokenId token : end_tokens)
    into.add_control(token);
  into.close_answer();
}

}  // namespace odb
