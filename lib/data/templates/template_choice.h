// Which chat template a run uses: the requested one, or the tokenizer's own, recognized by a hash
// of its text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "data/templates/chat_template.h"

namespace odb {

// What tokenizer_config.json and chat_template.jinja in a tokenizer's folder say.
struct TokenizerConfig {
  std::string folder;
  std::optional<std::string> chat_template;  // of several named ones: "default"
  std::string eos_token;                     // eos_token; empty: none
};

// A missing tokenizer_config.json gives an empty one. Throws DataError if it is not a JSON object
// or a token is not a text.
TokenizerConfig read_tokenizer_config(FileSystem& files, const std::string& folder);

// 32 hex digits: XXH3-128 of the text with CR LF as LF and without blanks at both ends.
std::string template_hash(std::string_view text);

// The name of the known template with this hash ("qwen3"), or nullopt. The texts of jinja_text.h
// are known, too.
std::optional<std::string> known_template(std::string_view hash);

struct ChosenTemplate {
  std::string name;
  std::unique_ptr<ChatTemplate> chat_template;
  std::string notice;  // to be logged once; empty: none
  // The same in Jinja for the folder of the trained model. Empty where the tokenizer's own text is
  // the one in use.
  std::string jinja = "";
  bool has_text = true;  // false: "none"
};

// `option` is --chat-template: "auto" or a template's name. With "auto": the tokenizer's own
// template if it is known; without one, chatml where <|im_start|> and <|im_end|> exist. Throws
// DataError for an unknown template, or if none can be chosen, listing the known ones.
ChosenTemplate choose_template(const std::string& option, const TokenizerConfig& config,
                               const FindToken& find);

// For records that are not conversations: "none", which refuses to render.
ChosenTemplate no_template();

}  // namespace odb
