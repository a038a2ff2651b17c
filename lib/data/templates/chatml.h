// ChatML and the Qwen family's variants of it: <|im_start|>role LF content <|im_end|> LF.
//
// Source of the method: the Jinja templates that Qwen3, Qwen3-Instruct-2507 and Qwen2.5-Instruct
// ship with their tokenizers. Plain ChatML writes contents unchanged and adds no system text. It
// has no rule for tools and tool calls: they are written as in Qwen3.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/templates/chat_template.h"

namespace odb {

struct ChatmlStyle {
  std::string_view name;
  std::string_view default_system;    // written unless the conversation starts with a system turn
  bool thinking = false;              // Qwen3: thinking blocks only after the last question
  bool arguments_as_spelled = false;  // a call's arguments that came as text stay as they are
};

// The style of "qwen3", "qwen3-instruct", "qwen2.5" or "chatml".
std::optional<ChatmlStyle> chatml_style(std::string_view name);

class ChatmlTemplate final : public ChatTemplate {
 public:
  ChatmlTemplate(const ChatmlStyle& style, const TemplateTokens& tokens);

  void render(const Conversation& conversation, Rendering& into) const override;

 private:
  void open_turn(std::string_view role, Rendering& into) const;
  void close_turn(Rendering& into) const;
  void add_turn(std::string_view role, std::string_view content, Rendering& into) const;
  void add_head(const Conversation& conversation, Rendering& into) const;
  void add_answer(const Conversation& conversation, std::size_t number, bool may_think,
                  Rendering& into) const;
  void add_tool_result(const Conversation& conversation, std::size_t number, Rendering& into) const;

  ChatmlStyle style_;
  TokenId im_start_;
  TokenId im_end_;
};

}  // namespace odb
