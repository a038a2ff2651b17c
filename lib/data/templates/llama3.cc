#include "data/templates/llama3.h"

#include "base/error.h"
#include "data/json/python_json.h"
#include "data/templates/python_strip.h"

namespace odb {
namespace {

constexpr std::string_view kDateLines =
    "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";
constexpr std::string_view kToolsHead =
    "Given the following functions, please respond with a JSON for a function call with its proper "
    "arguments that best answers the given prompt.\n\nRespond in the format {\"name\": function "
    "name, \"parameters\": dictionary of argument name and its value}.Do not use variables.\n\n";
constexpr int kToolIndent = 4;

}  // namespace

Llama3Tokens::Llama3Tokens(const TemplateTokens& tokens, std::string_view template_name)
    : begin_of_text(want_token(tokens, "<|begin_of_text|>", template_name)),
      start_header(want_token(tokens, "<|start_header_id|>", template_name)),
      end_header(want_token(tokens, "<|end_header_id|>", template_name)),
      end_of_turn(want_token(tokens, "<|eot_id|>", template_name)) {}

void Llama3Tokens::add_header(std::string_view role, Rendering& into) const {
  into.add_control(start_header);
  into.add_text(role);
  into.add_control(end_header);
  into.add_text("\n\n");
}

void Llama3Tokens::add_turn(const Message& message, Rendering& into) const {
  add_header(name(message.role), into);
  if (message.role == Role::assistant) into.open_answer(message.supervised);
  into.add_text(python_strip(message.content));
  into.add_control(end_of_turn);
  into.close_answer();
}

void Llama3Template::render(const Conversation& conversation, Rendering& into) const {
  if (!conversation.tools.empty() || !conversation.tool_calls.empty())
    throw DataError(
        "found tools or tool calls, which the template llama3 does not support; use llama3.1");
  into.add_control(tokens_.begin_of_text);
  for (const Message& message : conversation.messages) {
    if (message.role == Role::tool)
      throw DataError(
          "found a tool's result, which the template llama3 does not support; use llama3.1");
    tokens_.add_turn(message, into);
  }
}

void Llama31Template::render(const Conversation& conversation, Rendering& into) const {
  into.add_control(tokens_.begin_of_text);
  add_system(conversation, into);
  std::size_t next = conversation.messages.front().role == Role::system ? 1 : 0;
  if (!conversation.tools.empty()) {
    if (next == conversation.messages.size())
      throw DataError("found tools without a message to put them before; expected a user turn");
    add_tools_and_first(conversation, conversation.messages[next++], into);
  }
  for (; next < conversation.messages.size(); ++next) {
    const Message& message = conversation.messages[next];
    if (message.calls > 0) {
      add_call(conversation, message, into);
    } else if (message.role == Role::tool) {
      tokens_.add_header("ipython", into);
      std::string quoted;
      append_python_json_string(message.content, quoted);
      into.add_text(quoted);
      into.add_control(tokens_.end_of_turn);
    } else {
      tokens_.add_turn(message, into);
    }
  }
}

void Llama31Template::add_system(const Conversation& conversation, Rendering& into) const {
  tokens_.add_header("system", into);
  if (!conversation.tools.empty()) into.add_text("Environment: ipython\n");
  into.add_text(kDateLines);
  const Message& first = conversation.messages.front();
  if (first.role == Role::system) into.add_text(python_strip(first.content));
  into.add_control(tokens_.end_of_turn);
}

void Llama31Template::add_tools_and_first(const Conversation& conversation, const Message& first,
                                          Rendering& into) const {
  if (first.role != Role::user)
    throw DataError(
        "found tools and a first turn of the role '{}'; expected a user turn, which the "
        "template llama3.1 puts the tools into",
        name(first.role));
  tokens_.add_header("user", into);
  into.add_text(kToolsHead);
  for (const std::string_view tool : conversation.tools) {
    into.add_text(indent_python_json(tool, kToolIndent));
    into.add_text("\n\n");
  }
  into.add_text(python_strip(first.content));
  into.add_control(tokens_.end_of_turn);
}

void Llama31Template::add_call(const Conversation& conversation, const Message& message,
                               Rendering& into) const {
  if (message.calls != 1)
    throw DataError("found {} tool calls in one turn; the template llama3.1 allows one",
                    message.calls);
  const ToolCall& call = conversation.calls(message).front();
  tokens_.add_header("assistant", into);
  into.open_answer(message.supervised);
  into.add_text("{\"name\": \"");
  into.add_text(call.name);
  into.add_text("\", \"parameters\": ");
  into.add_text(call.arguments);
  into.add_text("}");
  into.add_control(tokens_.end_of_turn);
  into.close_answer();
}

}  // namespace odb
