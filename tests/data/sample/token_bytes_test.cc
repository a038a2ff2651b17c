#include "data/sample/token_bytes.h"

#include "catch.h"
#include "sample/changed_tokenizer.h"
#include "tokenizer/encoder.h"

using namespace odb;

TEST_CASE("An added token takes as many bytes of the text as it is written with") {
  nlohmann::json file = chat_tokenizer_file();
  // Both letters are also in the byte alphabet, where they stand for one byte each.
  add_token(file, "\u00F1\u00E9");
  const Tokenizer tokenizer = Tokenizer::parse(file.dump(), "changed.json");
  const std::string text = "1\u00F1\u00E923";
  const std::vector<TokenId> ids = Encoder(tokenizer).encode(text);
  REQUIRE(ids.size() == 4);
  std::vector<std::uint32_t> ends;
  TokenBytes(tokenizer).append_ends(text, ids, ends);
  CHECK(ends == std::vector<std::uint32_t>{1, 5, 6, 7});
}
