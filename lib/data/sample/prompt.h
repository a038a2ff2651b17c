// The tokens before an answer that is not written yet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/sample/sample_source.h"

namespace odb {

struct ChatPrompt {
  std::string system;  // empty: no system message
  std::string user;
};

// The conversation up to where the assistant's answer begins, as training writes it. Throws
// DataError if the template refuses it.
std::vector<TokenId> chat_prompt(const Preprocessor& preprocessor, const ChatPrompt& prompt);

// The text itself, after the token that the tokenizer puts before texts, if any.
std::vector<TokenId> raw_prompt(const Preprocessor& preprocessor, std::string_view text);

// The control tokens that end an answer of the chat template; none if there is no template.
std::vector<TokenId> template_ends(const Preprocessor& preprocessor);

}  // namespace odb
