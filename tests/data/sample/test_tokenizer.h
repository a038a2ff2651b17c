// The test tokenizer of tests/golden/chat (337 tokens and Llama 3's control tokens), loaded once.
#pragma once

#include <string>

#include "data/sample/sample_builder.h"
#include "data/sample/tokenizer_text.h"
#include "data/templates/template_choice.h"
#include "tokenizer/tokenizer.h"

namespace odb {

struct TestTokenizer {
  explicit TestTokenizer(const std::string& folder)
      : tokenizer(Tokenizer::load(folder)), bytes(tokenizer), encoder(tokenizer, bytes) {}

  FindToken find() const {
    return [this](std::string_view text) { return tokenizer.find(text); };
  }
  std::unique_ptr<ChatTemplate> chat_template(const std::string& name) const {
    return make_chat_template(name, {.find = find(), .eos_token = "<|endoftext|>"});
  }
  std::unique_ptr<TextEncoder> new_encoder() const {
    return std::make_unique<TokenizerText>(tokenizer, bytes);
  }
  SampleTokens sample_tokens() const {
    return {.eos_tokens = {*tokenizer.find("<|endoftext|>")},
            .vocabulary_size = static_cast<std::int64_t>(tokenizer.size())};
  }

  Tokenizer tokenizer;
  TokenBytes bytes;
  TokenizerText encoder;
};

inline TestTokenizer& test_tokenizer() {
  static TestTokenizer tokenizer(std::string(ODB_TESTS_FOLDER) + "/golden/chat/tokenizer");
  return tokenizer;
}

}  // namespace odb
