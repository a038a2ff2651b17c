// No markup: contents one after another as they stand, the end-of-text token behind each answer.
// Records that are texts (text, prompt and completion) are always written this way.
#pragma once

#include <span>

#include "data/templates/chat_template.h"

namespace odb {

class PlainTemplate final : public ChatTemplate {
 public:
  // Throws DataError when the tokenizer names no end-of-text token.
  explicit PlainTemplate(const TemplateTokens& tokens);

  // Refuses tools, tool calls and tool results.
  void render(const Conversation& talk, Rendering& into) const override;

 private:
  TokenId end_of_text_;
};

// A text: `prompt` as context, `completion` and the tokens behind it as the answer.
void render_text(std::string_view prompt, std::string_view completion,
                 std::span<const TokenId> behind, Rendering& into);

}  // namespace odb
