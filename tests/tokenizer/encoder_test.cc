// Encoding and decoding on a small tokenizer whose ids can be worked out by hand.
#include "tokenizer/encoder.h"

#include <random>

#include "base/error.h"
#include "catch.h"
#include "test_tokenizers.h"

using namespace odb;
using nlohmann::json;
using Ids = std::vector<TokenId>;

namespace {

constexpr TokenId kEnd = 258;

json with_flags(const char* flag) {
  json file = small_file();
  file["added_tokens"][0][flag] = true;
  return file;
}

Ids encode_pieces(const Tokenizer& tokenizer, const std::vector<TextPiece>& pieces) {
  Ids ids;
  Encoder(tokenizer).encode(pieces, ids);
  return ids;
}

}  // namespace

TEST_CASE("ids are appended to existing ids") {
  const Tokenizer tokenizer = parse(small_file());
  Encoder encoder(tokenizer);
  Ids ids{7};
  encoder.encode("abc ab", ids);
  CHECK(ids == Ids{7, 257, ' ', 256});
  encoder.encode("", ids);
  CHECK(ids == Ids{7, 257, ' ', 256});
}

TEST_CASE("pieces: control tokens by id, neighboring texts as one, typed ones plain") {
  const Tokenizer tokenizer = parse(small_file());
  CHECK(encode_pieces(tokenizer,
                      {{.text = "a"}, {.text = "bc"}, {.control = kEnd}, {.text = "ab"}}) ==
        Ids{257, kEnd, 256});
  CHECK(encode_pieces(tokenizer, {}).empty());
  CHECK(encode_pieces(tokenizer, {{.control = kEnd}, {.control = kEnd}}) == Ids{kEnd, kEnd});
  CHECK(encode_pieces(tokenizer, {{.text = "<|end|>"}}).size() == 7);
  CHECK(encode_pieces(tokenizer, {{.text = "<|en"}, {.text = "d|>"}}).size() == 7);
  CHECK_THROWS_WITH(encode_pieces(tokenizer, {{.control = 5}}), Catch::Contains("id 5"));
}

TEST_CASE("strip flags of a control piece take the white space next to it") {
  const std::vector<TextPiece> pieces{{.text = "a \n"}, {.control = kEnd}, {.text = " \t b"}};
  CHECK(encode_pieces(parse(with_flags("lstrip")), pieces) == Ids{'a', kEnd, ' ', '\t', ' ', 'b'});
  CHECK(encode_pieces(parse(with_flags("rstrip")), pieces) == Ids{'a', ' ', '\n', kEnd, 'b'});
}

TEST_CASE("white space that an added token strips does not match again") {
  json file = small_file();
  file["added_tokens"][0]["special"] = false;
  file["added_tokens"][0]["rstrip"] = true;
  json blanks = file["added_tokens"][0];
  blanks["id"] = 259;
  blanks["content"] = "  ";
  file["added_tokens"].push_back(blanks);
  const Tokenizer tokenizer = parse(file);
  CHECK(Encoder(tokenizer).encode("a  b<|end|>  a") == Ids{'a', 259, 'b', kEnd, 'a'});
}

TEST_CASE("control tokens in text are parsed only when requested") {
  const Tokenizer tokenizer = parse(small_file());
  CHECK(Encoder(tokenizer).encode("a<|end|>").size() == 8);
  CHECK(Encoder(tokenizer, {.parse_special_in_text = true}).encode("a<|end|>") == Ids{'a', kEnd});
}

TEST_CASE("text that is not UTF-8 is refused with the place, and the ids are unchanged") {
  const Tokenizer tokenizer = parse(small_file());
  Encoder encoder(tokenizer);
  for (const std::string bad :
       {"ab\xFF", "ab\xC3", "ab\xC0\x80", "ab\xED\xA0\x80", "ab\xF4\x90\x80\x80"}) {
    Ids ids{1};
    CHECK_THROWS_AS(encoder.encode(bad, ids), DataError);
    CHECK_THROWS_WITH(encoder.encode(bad, ids), Catch::Contains("offset 2"));
    CHECK(ids == Ids{1});
    CHECK_THROWS_AS(
        encoder.encode(std::vector<TextPiece>{{.text = "a"}, {.control = kEnd}, {.text = bad}},
                       ids),
        DataError);
    CHECK(ids == Ids{1});
  }
}

TEST_CASE("decoding joins bytes across tokens and repairs invalid UTF-8") {
  const Tokenizer tokenizer = parse(small_file());
  CHECK(tokenizer.decode(Ids{256, 0xC3, 0xA9, kEnd}) == "ab\u00e9<|end|>");
  CHECK(tokenizer.decode(Ids{256, kEnd, 'c'}, false) == "abc");
  CHECK(tokenizer.decode(Ids{0xE4, 0xBD, 'x', 0xFF}) == "\uFFFDx\uFFFD");
  CHECK(tokenizer.decode_bytes(Ids{0xE4, 0xBD}) == "\xE4\xBD");
  CHECK_THROWS_WITH(tokenizer.decode(Ids{259}),
                    Catch::Contains("no token 259") && Catch::Contains("258"));
  CHECK_THROWS_AS(tokenizer.decode(Ids{-1}), DataError);
}

TEST_CASE("token strings and ids are looked up both ways") {
  const Tokenizer tokenizer = parse(small_file());
  REQUIRE(tokenizer.size() == 259);
  for (TokenId id = 0; id < 259; ++id)
    CHECK(tokenizer.find(tokenizer.spelling(id)) == id);
  CHECK(tokenizer.spelling(' ') == "Ġ");
  CHECK(tokenizer.find("nothing") == std::nullopt);
  CHECK(tokenizer.is_control(kEnd));
  CHECK_FALSE(tokenizer.is_control(256));
  CHECK_FALSE(tokenizer.is_control(9999));
}

TEST_CASE("a small cache that is always full gives the same ids as a large one") {
  const Tokenizer tokenizer =
      parse(family_file(read_json(test_file("tokenizer/golden/families.json")), "qwen2"));
  Encoder small(tokenizer, {.cache_bytes = 0});
  Encoder large(tokenizer);
  std::mt19937 random(11);
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += ' ';
    const auto letters = 1 + random() % 30;
    for (unsigned j = 0; j < letters; ++j)
      text += static_cast<char>('a' + random() % 4);
  }
  const Ids ids = large.encode(text);
  CHECK(small.encode(text) == ids);
  CHECK(large.encode(text) == ids);
  CHECK(tokenizer.decode(ids) == text);
}

TEST_CASE("a megabyte of marks out of order has the ids of its normal form") {
  const Tokenizer tokenizer =
      parse(family_file(read_json(test_file("tokenizer/golden/families.json")), "qwen2"));
  Encoder encoder(tokenizer);
  std::string text = "a";
  std::string low;
  std::string high;
  for (int i = 0; i < 1 << 17; ++i) {
    text += "\u0323\u0307\u0301\u0323";
    low += "\u0323\u0323";
    high += "\u0307\u0301";
  }
  CHECK((encoder.encode(text) == encoder.encode("\u1EA1" + low.substr(2) + high)));
}

TEST_CASE("a megabyte of one letter, of blanks or of mixed emoji is encoded and comes back") {
  const Tokenizer tokenizer =
      parse(family_file(read_json(test_file("tokenizer/golden/families.json")), "qwen2"));
  Encoder encoder(tokenizer);
  std::string emoji;
  std::mt19937 random(12);
  while (emoji.size() < 1 << 20) {
    emoji += "\xF0\x9F\x98";
    emoji += static_cast<char>(0x80 + random() % 64);
    if (random() % 3 == 0) emoji += "\u200D";
  }
  for (const std::string& text : {std::string(1 << 20, 'a'), std::string(1 << 20, ' '), emoji}) {
    const Ids ids = encoder.encode(text);
    CHECK(ids.size() < text.size());
    CHECK(tokenizer.decode(ids) == text);
  }
}
