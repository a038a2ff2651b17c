#include "data/json/json_texts.h"

#include "base/error.h"
#include "catch.h"

using namespace odb;

TEST_CASE("texts and ids are read from lines") {
  JsonLineReader reader;
  CHECK(reader.read_text(R"("a\n\u00e9\"")", "f:1") == "a\n\u00E9\"");
  CHECK(reader.read_ids("[1, 2,3]", "f:1") == std::vector<TokenId>{1, 2, 3});
  CHECK(reader.read_ids("[]", "f:1").empty());
  CHECK(json_of_text("a\n\"\u00E9") == "\"a\\n\\\"\u00E9\"");
}

TEST_CASE("lines of another kind are refused with their place") {
  JsonLineReader reader;
  CHECK_THROWS_WITH(reader.read_text("7", "f:3"), Catch::StartsWith("f:3: expected a JSON string"));
  CHECK_THROWS_WITH(reader.read_text("\"open", "f:4"),
                    "f:4: found a string without its closing quote; was the line cut?");
  CHECK_THROWS_WITH(reader.read_text("\"a\" \"b\"", "f:5"),
                    Catch::StartsWith("f:5: found text that is not a single JSON value"));
  CHECK_THROWS_WITH(reader.read_ids("{}", "f:6"), Catch::StartsWith("f:6: expected a JSON array"));
  CHECK_THROWS_WITH(reader.read_ids("[1,-2]", "f:7"), Catch::Contains("expected an id, found -2"));
  CHECK_THROWS_WITH(reader.read_ids("[1,3000000000]", "f:8"), Catch::Contains("3000000000"));
  CHECK_THROWS_AS(reader.read_ids("[\"1\"]", "f:9"), DataError);
}

TEST_CASE("the texts of a record are those that a tokenizer would see") {
  JsonLineReader reader;
  using Texts = std::vector<std::string>;
  CHECK(reader.read_texts(R"("bare")", "f:1") == Texts{"bare"});
  CHECK(
      reader.read_texts(
          R"({"id":"x","messages":[{"role":"user","content":"q"},{"content":["a","b"]}],"text":5})",
          "f:1") == Texts{"q", "a", "b"});
  CHECK(reader.read_texts(R"({"instruction":"i","input":"","output":"o"})", "f:1") ==
        Texts{"i", "", "o"});
  CHECK(reader.read_texts(R"({"n":1})", "f:1").empty());
}
