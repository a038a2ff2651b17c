// No markup: contents one after another, unchanged, with the end-of-text token after each answer.
// Text records (text, prompt and completion) are always written this way.
#pragma once

#include <span>

#include "data/templates/chat_template.h"

namespace odb {

class PlainTemplate final : public ChatTemplate {
 public:
  // Throws DataError when the tokenizer names no end-of-text token.
  explicit PlainTemplate(const TemplateTokens& tokens);

  // Refuses tools, tool calls and tool results.
  void render(const Conversation& conversation, Rendering& into) const override;

 private:
  TokenId eos_token_;
};

// A text: `prompt` is context, `completion` and `end_tokens` are the answer.
void render_text(std::string_view prompt, std::string_view completion,
                 std::span<const TokenId> end_tokens, Rendering& into);

}  // namespace odb
