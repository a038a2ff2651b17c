#include "data/templates/chat_template.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "data/templates/chatml.h"
#include "data/templates/llama3.h"
#include "data/templates/plain.h"

namespace odb {

const std::vector<std::string>& chat_template_names() {
  static const std::vector<std::string> names = {"qwen3",  "qwen3-instruct", "qwen2.5", "chatml",
                                                 "llama3", "llama3.1",       "plain"};
  return names;
}

std::unique_ptr<ChatTemplate> make_chat_template(const std::string& name,
                                                 const TemplateTokens& tokens) {
  if (name == "llama3") return std::make_unique<Llama3Template>(tokens);
  if (name == "llama3.1") return std::make_unique<Llama31Template>(tokens);
  if (name == "plain") return std::make_unique<PlainTemplate>(tokens);
  if (const auto style = chatml_style(name))
    return std::make_unique<ChatmlTemplate>(*style, tokens);
  throw UsageError("--chat-template {}: unknown; known: auto, {}", name,
                   fmt::join(chat_template_names(), ", "));
}

TokenId want_token(const TemplateTokens& tokens, std::string_view text,
                   std::string_view template_name) {
  if (const auto id = tokens.find(text)) return *id;
  throw DataError(
      "the chat template {} needs the token '{}', which the tokenizer does not have; choose "
      "another "
      "--chat-template or --tokenizer",
      template_name, text);
}

}  // namespace odb
