// How a model family writes a conversation. Each template is a C++ function that equals the
// family's own template token for token (tested against golden files), one file per family. An
// interpreter for any template could be another ChatTemplate.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/conversation/conversation.h"
#include "data/templates/rendering.h"
#include "tokenizer/token_id.h"

namespace odb {

class ChatTemplate {
 public:
  virtual ~ChatTemplate() = default;

  // Adds the whole conversation (at least one message). An answer is an assistant's turn from the
  // first byte after its header through its end-of-turn token; a line feed after that is not part
  // of it. Omits what the family's template omits. Throws DataError for a conversation that the
  // template refuses. Thread-safe.
  virtual void render(const Conversation& conversation, Rendering& into) const = 0;
};

// The id of a token by its text, or nullopt.
using FindToken = std::function<std::optional<TokenId>(std::string_view)>;

// What a template needs to know of the tokenizer.
struct TemplateTokens {
  FindToken find;
  std::string eos_token;  // tokenizer_config.json's eos_token; may be empty
};

// "qwen3", "qwen3-instruct", "qwen2.5", "chatml", "llama3", "llama3.1", "plain".
const std::vector<std::string>& chat_template_names();

// Throws UsageError for an unknown name, DataError when the tokenizer lacks one of the template's
// control tokens.
std::unique_ptr<ChatTemplate> make_chat_template(const std::string& name,
                                                 const TemplateTokens& tokens);

// The id of `text`; throws DataError naming the template that needs it.
TokenId want_token(const TemplateTokens& tokens, std::string_view text,
                   std::string_view template_name);

}  // namespace odb
