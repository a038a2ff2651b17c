#include "data/templates/chatml.h"

#include <array>

namespace odb {
namespace {

constexpr std::array<ChatmlStyle, 4> kStyles = {{
    {.name = "qwen3", .thinking = true, .arguments_as_spelled = true},
    {.name = "qwen3-instruct", .arguments_as_spelled = true},
    {.name = "qwen2.5",
     .default_system = "You are Qwen, created by Alibaba Cloud. You are a helpful assistant."},
    {.name = "chatml"},
}};

constexpr std::string_view kToolsHead =
    "# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>";
constexpr std::string_view kToolsTail =
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments "
    "within <tool_call></tool_call> XML tags:\n<tool_call>\n"
    "{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call>";
constexpr std::string_view kThinkOpen = "<think>";
constexpr std::string_view kThinkClose = "</think>";

std::string_view without_leading_line_feeds(std::string_view text) {
  const std::size_t first = text.find_first_not_of('\n');
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

std::string_view without_trailing_line_feeds(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

struct Answer {
  std::string_view reasoning;
  std::string_view content;
};

// Thinking is a field of its own, or in the content before the last closing tag.
Answer split_thinking(const Message& message) {
  if (message.reasoning) return {.reasoning = *message.reasoning, .content = message.content};
  const std::string_view content = message.content;
  const std::size_t last_close = content.rfind(kThinkClose);
  if (last_close == std::string_view::npos) return {.reasoning = {}, .content = content};
  std::string_view reasoning =
      without_trailing_line_feeds(content.substr(0, content.find(kThinkClose)));
  const std::size_t last_open = reasoning.rfind(kThinkOpen);
  if (last_open != std::string_view::npos) reasoning.remove_prefix(last_open + kThinkOpen.size());
  return {.reasoning = without_leading_line_feeds(reasoning),
          .content = without_leading_line_feeds(content.substr(last_close + kThinkClose.size()))};
}

// The last user turn that is a question, not a tool's result. Thinking is kept only after it.
std::size_t last_question(const Conversation& conversation) {
  for (std::size_t i = conversation.messages.size(); i > 0; --i) {
    const Message& message = conversation.messages[i - 1];
    const bool is_result = message.content.starts_with("<tool_response>") &&
                           message.content.ends_with("</tool_response>");
    if (message.role == Role::user && !is_result) return i - 1;
  }
  return conversation.messages.size() - 1;
}

bool is_tool(const Conversation& conversation, std::size_t number) {
  return number < conversation.messages.size() && conversation.messages[number].role == Role::tool;
}

}  // namespace

std::optional<ChatmlStyle> chatml_style(std::string_view name) {
  for (const ChatmlStyle& style : kStyles)
    if (style.name == name) return style;
  return std::nullopt;
}

ChatmlTemplate::ChatmlTemplate(const ChatmlStyle& style, const TemplateTokens& tokens)
    : style_(style),
      im_start_(want_token(tokens, "<|im_start|>", style.name)),
      im_end_(want_token(tokens, "<|im_end|>", style.name)) {}

void ChatmlTemplate::render(const Conversation& conversation, Rendering& into) const {
  add_head(conversation, into);
  const std::size_t question =
      style_.thinking ? last_question(conversation) : conversation.messages.size();
  for (std::size_t i = 0; i < conversation.messages.size(); ++i) {
    const Message& message = conversation.messages[i];
    if (message.role == Role::assistant)
      add_answer(conversation, i, i > question, into);
    else if (message.role == Role::tool)
      add_tool_result(conversation, i, into);
    else if (message.role == Role::user || i > 0)
      add_turn(name(message.role), message.content, into);
  }
}

void ChatmlTemplate::open_turn(std::string_view role, Rendering& into) const {
  into.add_control(im_start_);
  into.add_text(role);
}

void ChatmlTemplate::close_turn(Rendering& into) const {
  into.add_control(im_end_);
  into.close_answer();
  into.add_text("\n");
}

void ChatmlTemplate::add_turn(std::string_view role, std::string_view content,
                              Rendering& into) const {
  open_turn(role, into);
  into.add_text("\n");
  into.add_text(content);
  close_turn(into);
}

// The system turn: the conversation's own or the family's, with the tools.
void ChatmlTemplate::add_head(const Conversation& conversation, Rendering& into) const {
  const Message& first = conversation.messages.front();
  const bool has_own = first.role == Role::system;
  const std::string_view system = has_own ? first.content : style_.default_system;
  const bool has_system = has_own || !style_.default_system.empty();
  if (conversation.tools.empty()) {
    if (has_system) add_turn("system", system, into);
    return;
  }
  open_turn("system", into);
  into.add_text("\n");
  if (has_system) {
    into.add_text(system);
    into.add_text("\n\n");
  }
  into.add_text(kToolsHead);
  for (const std::string_view tool : conversation.tools) {
    into.add_text("\n");
    into.add_text(tool);
  }
  into.add_text(kToolsTail);
  close_turn(into);
}

void ChatmlTemplate::add_answer(const Conversation& conversation, std::size_t number,
                                bool may_think, Rendering& into) const {
  const Message& message = conversation.messages[number];
  const Answer answer = style_.thinking ? split_thinking(message)
                                        : Answer{.reasoning = {}, .content = message.content};
  open_turn("assistant", into);
  into.add_text("\n");
  into.open_answer(message.supervised);
  const bool is_last = number + 1 == conversation.messages.size();
  if (may_think && (is_last || !answer.reasoning.empty())) {
    into.add_text("<think>\n");
    into.add_text(without_leading_line_feeds(without_trailing_line_feeds(answer.reasoning)));
    into.add_text("\n</think>\n\n");
    into.add_text(without_leading_line_feeds(answer.content));
  } else {
    into.add_text(answer.content);
  }
  bool first = true;
  for (const ToolCall& call : conversation.calls(message)) {
    if (!first || !answer.content.empty()) into.add_text("\n");
    first = false;
    into.add_text("<tool_call>\n{\"name\": \"");
    into.add_text(call.name);
    into.add_text("\", \"arguments\": ");
    into.add_text(style_.arguments_as_spelled ? call.arguments_text : call.arguments);
    into.add_text("}\n</tool_call>");
  }
  close_turn(into);
}

// Results in a row share one user turn.
void ChatmlTemplate::add_tool_result(const Conversation& conversation, std::size_t number,
                                     Rendering& into) const {
  if (number == 0 || !is_tool(conversation, number - 1)) open_turn("user", into);
  into.add_text("\n<tool_response>\n");
  into.add_text(conversation.messages[number].content);
  into.add_text("\n</tool_response>");
  if (!is_tool(conversation, number + 1)) close_turn(into);
}

}  // namespace odb
