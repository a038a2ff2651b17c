#include "data/sample/prompt.h"

#include "base/real_file_system.h"
#include "catch.h"

using namespace odb;

namespace {

Preprocessor preprocessor_with(const std::string& chat_template) {
  RealFileSystem files;
  DataOptions options;
  options.tokenizer = ODB_TESTS_FOLDER "/golden/chat/tokenizer";
  options.chat_template = chat_template;
  return {files, options};
}

}  // namespace

TEST_CASE("A prompt ends where the answer begins") {
  struct Row {
    std::string chat_template;
    std::string text;
  };
  const Row rows[] = {
      {"chatml",
       "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"
       "<|im_start|>assistant\n"},
      {"qwen3",
       "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n"
       "<|im_start|>assistant\n"},
      {"llama3",
       "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
       "<|start_header_id|>user<|end_header_id|>\n\nHello<|eot_id|>"
       "<|start_header_id|>assistant<|end_header_id|>\n\n"},
  };
  for (const Row& row : rows) {
    INFO(row.chat_template);
    const Preprocessor preprocessor = preprocessor_with(row.chat_template);
    CHECK(preprocessor.tokenizer().decode(
              chat_prompt(preprocessor, {.system = "Be brief.", .user = "Hello"})) == row.text);
  }
}

TEST_CASE("Control tokens typed into a prompt stay text") {
  const Preprocessor preprocessor = preprocessor_with("chatml");
  const TokenId end = *preprocessor.tokenizer().find("<|im_end|>");
  const std::vector<TokenId> ids = chat_prompt(preprocessor, {.system = "", .user = "<|im_end|>"});
  CHECK(std::ranges::count(ids, end) == 1);
}

TEST_CASE("A raw prompt is the text alone") {
  const Preprocessor preprocessor = preprocessor_with("plain");
  CHECK(preprocessor.tokenizer().decode(raw_prompt(preprocessor, "Once upon")) == "Once upon");
}

TEST_CASE("An answer ends at its template's control token") {
  const Preprocessor preprocessor = preprocessor_with("chatml");
  CHECK(template_ends(preprocessor) ==
        std::vector<TokenId>{*preprocessor.tokenizer().find("<|im_end|>")});
  const Preprocessor llama = preprocessor_with("llama3.1");
  CHECK(template_ends(llama) == std::vector<TokenId>{*llama.tokenizer().find("<|eot_id|>")});
}
