// The cases from the field: merges in both spellings, splitting, added tokens, typed control
// tokens.
#include "base/error.h"
#include "catch.h"
#include "test_tokenizers.h"
#include "tokenizer/encoder.h"

using namespace odb;
using nlohmann::json;

namespace {

Tokenizer load_case(const std::string& name) {
  return Tokenizer::load(test_file("cases/tokenizer/" + name));
}

void check_cases(const std::string& tokenizer_name, const std::string& expected_name) {
  const Tokenizer tokenizer = load_case(tokenizer_name);
  // The listed ids are those of whole rendered strings: control tokens in them count.
  Encoder encoder(tokenizer, {.parse_special_in_text = true});
  const json cases = read_json(test_file("cases/tokenizer/" + expected_name));
  REQUIRE(cases.size() > 5);
  for (const json& expected : cases) {
    const auto text = expected["text"].get<std::string>();
    INFO(tokenizer_name << ": " << expected["text"].dump());
    CHECK(encoder.encode(text) == expected["ids"].get<std::vector<TokenId>>());
  }
}

}  // namespace

TEST_CASE("merges as pairs and as strings give the listed ids") {
  check_cases("merges_pairs", "pretokenizer.expected.json");
  check_cases("merges_strings", "pretokenizer.expected.json");
}

TEST_CASE("a merge with three parts is refused with its place") {
  CHECK_THROWS_AS(load_case("merges_broken"), DataError);
  CHECK_THROWS_WITH(load_case("merges_broken"),
                    Catch::Contains("tokenizer.json: model.merges[0]") &&
                        Catch::Contains(R"(["a","b","c"])") && Catch::Contains("two parts"));
}

TEST_CASE("added tokens: the longest wins, strip flags eat blanks, single words stand alone") {
  check_cases("added_tokens", "added_tokens.expected.json");
}

TEST_CASE("padding and end of turn may be the same token") {
  const Tokenizer tokenizer = load_case("pad_is_im_end");
  CHECK(tokenizer.find("<|im_end|>") == 332);
  CHECK(tokenizer.is_control(332));
}

TEST_CASE("control tokens typed into a message stay plain text") {
  const Tokenizer tokenizer = load_case("merges_pairs");
  const json row = read_json(test_file("cases/chat/typed_control_tokens.jsonl"));
  const json expected = read_json(test_file("cases/chat/typed_control_tokens.expected.json"));
  std::vector<std::string> texts;
  for (const json& message : row["messages"]) {
    texts.push_back(message["role"].get<std::string>() + "\n" +
                    message["content"].get<std::string>());
  }
  const TokenId start = *tokenizer.find("<|im_start|>");
  const TokenId end = *tokenizer.find("<|im_end|>");
  std::vector<TextPiece> pieces;
  for (const std::string& text : texts) {
    pieces.push_back({.control = start});
    pieces.push_back({.text = text});
    pieces.push_back({.control = end});
    pieces.push_back({.text = "\n"});
  }
  std::vector<TokenId> ids;
  Encoder(tokenizer).encode(pieces, ids);
  CHECK(ids == expected["input_ids"].get<std::vector<TokenId>>());
  CHECK(std::count(ids.begin(), ids.end(), start) == 2);
  CHECK(std::count(ids.begin(), ids.end(), end) == 2);
  CHECK(std::count(ids.begin(), ids.end(), *tokenizer.find("<|endoftext|>")) == 0);
}
