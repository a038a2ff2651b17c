// Llama 3 and Llama 3.1: <|start_header_id|>role<|end_header_id|> LF LF content <|eot_id|>.
//
// Source of the method: the Jinja templates that Meta-Llama-3-Instruct and Llama-3.1, 3.2 and
// 3.3-Instruct ship with their tokenizers. Those of 3.1 and later start with a date. Here it is
// always 26 Jul 2024, their fallback, because samples must not depend on the day.
#pragma once

#include <string_view>

#include "data/templates/chat_template.h"

namespace odb {

struct Llama3Tokens {
  Llama3Tokens(const TemplateTokens& tokens, std::string_view template_name);

  void add_header(std::string_view role, Rendering& into) const;
  // A turn with its content trimmed as Python's str.strip does.
  void add_turn(const Message& message, Rendering& into) const;

  TokenId begin_of_text;
  TokenId start_header;
  TokenId end_header;
  TokenId end_of_turn;
};

// Does not support tools: refuses conversations with tools, tool calls or tool results.
class Llama3Template final : public ChatTemplate {
 public:
  explicit Llama3Template(const TemplateTokens& tokens) : tokens_(tokens, "llama3") {}
  void render(const Conversation& conversation, Rendering& into) const override;

 private:
  Llama3Tokens tokens_;
};

// Tools come before the first message; one call per turn.
class Llama31Template final : public ChatTemplate {
 public:
  explicit Llama31Template(const TemplateTokens& tokens) : tokens_(tokens, "llama3.1") {}
  void render(const Conversation& conversation, Rendering& into) const override;

 private:
  void add_system(const Conversation& conversation, Rendering& into) const;
  void add_tools_and_first(const Conversation& conversation, const Message& first,
                           Rendering& into) const;
  void add_call(const Conversation& conversation, const Message& message, Rendering& into) const;

  Llama3Tokens tokens_;
};

}  // namespace odb
