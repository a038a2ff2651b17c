// The tokens in front of an answer that is yet to be written.
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

// The talk up to where the assistant's answer begins, as training would write it. Throws DataError
// when the template refuses it.
std::vector<TokenId> chat_prompt(const SampleMaking& making, const ChatPrompt& prompt);

// The text as it is, behind the token that the tokenizer puts before texts, if any.
std::vector<TokenId> raw_prompt(const SampleMaking& making, std::string_view text);

// The control tokens that end an answer of the template, and a text of the tokenizer.
std::vector<TokenId> answer_ends(const SampleMaking& making);

}  // namespace odb
