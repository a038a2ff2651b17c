// Broken tokenizer.json files: each is refused with the place and the reason.
#include <functional>

#include "base/error.h"
#include "catch.h"
#include "test_tokenizers.h"
#include "tokenizer/encoder.h"

using namespace odb;
using nlohmann::json;

namespace {

struct Refusal {
  std::string what;
  std::function<void(json&)> damage;
  std::vector<std::string> parts;  // all of them must be in the message
};

json added(int id, const std::string& content) {
  return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", false}};
}

json& split_step(json& file) {
  return file["pre_tokenizer"]["pretokenizers"][0];
}

const std::vector<Refusal> kRefusals = {
    {"another model", [](json& f) { f["model"]["type"] = "Unigram"; }, {"model", "Unigram", "BPE"}},
    {"dropout", [](json& f) { f["model"]["dropout"] = 0.1; }, {"model", "dropout"}},
    {"byte fallback", [](json& f) { f["model"]["byte_fallback"] = true; }, {"byte_fallback"}},
    {"a word suffix",
     [](json& f) { f["model"]["end_of_word_suffix"] = "</w>"; },
     {"end_of_word_suffix"}},
    {"an unknown part", [](json& f) { f["reranker"] = 1; }, {"unknown component 'reranker'"}},
    {"another version", [](json& f) { f["version"] = "2.0"; }, {"unknown version \"2.0\"", "1.0"}},
    {"ignore_merges as text",
     [](json& f) { f["model"]["ignore_merges"] = "yes"; },
     {"model: 'ignore_merges' is \"yes\"", "true or false"}},
    {"ignore_merges as a number",
     [](json& f) { f["model"]["ignore_merges"] = 1; },
     {"model: 'ignore_merges' is 1"}},
    {"no merge at all",
     [](json& f) { f["model"]["merges"] = json::array(); },
     {"model.merges: empty", "259 tokens"}},
    {"an id too large",
     [](json& f) { f["model"]["vocab"]["abc"] = (1 << 21) - 1; },
     {"'abc' is 2097151", "0 to 2097150"}},
    {"an unknown key of the normalizer",
     [](json& f) { f["normalizer"]["x"] = 1; },
     {"normalizer: unknown key 'x'"}},
    {"an unknown key of a split",
     [](json& f) { split_step(f)["x"] = 1; },
     {"pretokenizers[0]: unknown key 'x'"}},
    {"an unknown key of a sequence",
     [](json& f) { f["pre_tokenizer"]["x"] = 1; },
     {"pre_tokenizer: unknown key 'x'"}},
    {"an unknown key of ByteLevel",
     [](json& f) { f["pre_tokenizer"]["pretokenizers"][1]["x"] = 1; },
     {"pretokenizers[1]: unknown key 'x'"}},
    {"an unknown key of the decoder",
     [](json& f) { f["decoder"]["x"] = 1; },
     {"decoder: unknown key 'x'"}},
    {"an unknown key of an added token",
     [](json& f) { f["added_tokens"][0]["x"] = 1; },
     {"added_tokens[0]: unknown key 'x'"}},
    {"an unknown key of a post-processor",
     [](json& f) { f["post_processor"] = {{"type", "ByteLevel"}, {"x", 1}}; },
     {"post_processor: unknown key 'x'"}},
    {"an unknown part of the model",
     [](json& f) { f["model"]["x"] = 1; },
     {"model: unknown component 'x'"}},
    {"no model", [](json& f) { f.erase("model"); }, {"'model' is missing"}},
    {"no vocabulary", [](json& f) { f["model"].erase("vocab"); }, {"model: 'vocab' is missing"}},
    {"no merges", [](json& f) { f["model"].erase("merges"); }, {"model: 'merges' is missing"}},
    {"merges of another kind", [](json& f) { f["model"]["merges"] = 7; }, {"model.merges", "list"}},
    {"a merge of one part",
     [](json& f) { f["model"]["merges"][1] = "ab"; },
     {"model.merges[1]", "two parts"}},
    {"a merge of three parts",
     [](json& f) { f["model"]["merges"][1] = "a b c"; },
     {"model.merges[1]", "two parts"}},
    {"a merge of a number",
     [](json& f) { f["model"]["merges"][0] = 5; },
     {"model.merges[0]", "two parts"}},
    {"a merge of an unknown token",
     [](json& f) { f["model"]["merges"][0] = "a xx"; },
     {"model.merges[0]", "'xx'"}},
    {"a merge into no token",
     [](json& f) { f["model"]["merges"][0] = "b a"; },
     {"model.merges[0]", "'ba'"}},
    {"a merge twice",
     [](json& f) { f["model"]["merges"].push_back("a b"); },
     {"model.merges[2]", "already"}},
    {"an id twice",
     [](json& f) { f["model"]["vocab"]["abc"] = 256; },
     {"the id 256 is given twice", "ab"}},
    {"a hole in the ids",
     [](json& f) { f["model"]["vocab"]["abc"] = 300; },
     {"257", "up to 300", "hole"}},
    {"a negative id",
     [](json& f) { f["model"]["vocab"]["abc"] = -1; },
     {"model.vocab", "'abc'", "-1"}},
    {"an id that is text",
     [](json& f) { f["model"]["vocab"]["abc"] = "x"; },
     {"model.vocab", "'abc'"}},
    {"a byte without a token",
     [](json& f) {
       f["model"]["vocab"].erase("a");
       f["model"]["vocab"]["zz"] = 97;
     },
     {"'a' for the byte 97"}},
    {"an added token with another id",
     [](json& f) { f["added_tokens"][0] = added(9, "abc"); },
     {"added_tokens[0]", "'abc'", "9", "257"}},
    {"an added token twice",
     [](json& f) { f["added_tokens"].push_back(added(259, "<|end|>")); },
     {"added_tokens[1]", "twice"}},
    {"an added token on a used id",
     [](json& f) { f["added_tokens"].push_back(added(7, "<x>")); },
     {"id 7", "twice"}},
    {"an empty added token",
     [](json& f) { f["added_tokens"][0]["content"] = ""; },
     {"added_tokens[0]", "empty"}},
    {"an added token without a flag",
     [](json& f) { f["added_tokens"][0].erase("lstrip"); },
     {"added_tokens[0]", "lstrip: found nothing"}},
    {"a flag that is text",
     [](json& f) { f["added_tokens"][0]["special"] = "yes"; },
     {"special", "true or false"}},
    {"another normalizer",
     [](json& f) { f["normalizer"]["type"] = "Lowercase"; },
     {"normalizer", "Lowercase", "NFC"}},
    {"another normalizer inside",
     [](json& f) {
       f["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFKC"}}}}};
     },
     {"normalizer.normalizers[0]", "NFKC"}},
    {"no pre-tokenizer",
     [](json& f) { f["pre_tokenizer"] = nullptr; },
     {"pre_tokenizer", "ByteLevel"}},
    {"another pre-tokenizer",
     [](json& f) { split_step(f)["type"] = "Metaspace"; },
     {"pre_tokenizer.pretokenizers[0]", "Metaspace"}},
    {"a step after ByteLevel",
     [](json& f) { f["pre_tokenizer"]["pretokenizers"].push_back(split_step(f)); },
     {"pretokenizers[2]", "after ByteLevel"}},
    {"an unknown behavior",
     [](json& f) { split_step(f)["behavior"] = "Torn"; },
     {"pretokenizers[0]", "Torn"}},
    {"a pattern of no kind",
     [](json& f) { split_step(f)["pattern"] = "x"; },
     {"pretokenizers[0].pattern", "Regex"}},
    {"an empty text to split at",
     [](json& f) { split_step(f)["pattern"] = {{"String", ""}}; },
     {"empty String"}},
    {"a broken pattern",
     [](json& f) { split_step(f)["pattern"] = {{"Regex", "(a"}}; },
     {"pattern", "(a", "compiled"}},
    {"a pattern outside the dialect",
     [](json& f) { split_step(f)["pattern"] = {{"Regex", "\\p{N}{1,3}+"}}; },
     {"interval followed by '+'", "offset 5"}},
    {"another decoder",
     [](json& f) { f["decoder"]["type"] = "Metaspace"; },
     {"decoder", "Metaspace", "ByteLevel"}},
    {"no decoder", [](json& f) { f["decoder"] = nullptr; }, {"decoder", "ByteLevel"}},
    {"another post-processor",
     [](json& f) { f["post_processor"] = {{"type", "BertProcessing"}}; },
     {"post_processor", "BertProcessing"}},
    {"a template with an unknown token",
     [](json& f) {
       f["post_processor"] = {
           {"type", "TemplateProcessing"},
           {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}},
           {"special_tokens", json::object()}};
     },
     {"special_tokens", "<s>: found nothing"}},
    {"a template without the text",
     [](json& f) {
       f["post_processor"] = {{"type", "TemplateProcessing"}, {"single", json::array()}};
     },
     {"places the text 0 times"}},
};

}  // namespace

TEST_CASE("a broken tokenizer file is refused with the place and the reason") {
  for (const Refusal& refusal : kRefusals) {
    INFO(refusal.what);
    json file = small_file();
    REQUIRE_NOTHROW(parse(file));
    refusal.damage(file);
    try {
      parse(file);
      FAIL("it was taken");
    } catch (const DataError& error) {
      const std::string message = error.what();
      INFO(message);
      CHECK(message.starts_with("small.json: "));
      for (const std::string& part : refusal.parts)
        CHECK_THAT(message, Catch::Contains(part));
    }
  }
}

TEST_CASE("invalid JSON is refused with line and column") {
  CHECK_THROWS_WITH(Tokenizer::parse("{\"model\":\n{,}}", "t.json"),
                    Catch::Contains("t.json: not a JSON file") && Catch::Contains("line 2"));
  CHECK_THROWS_AS(Tokenizer::parse("", "t.json"), DataError);
  CHECK_THROWS_WITH(Tokenizer::parse("\xEF\xBB\xBF" + small_file().dump(), "t.json"),
                    Catch::Contains("t.json: begins with a byte order mark"));
  CHECK_THROWS_WITH(Tokenizer::parse("[]", "t.json"), Catch::Contains("expected an object"));
  CHECK_THROWS_WITH(Tokenizer::parse(R"({"model":{},"model":{}})", "t.json"),
                    Catch::Contains("'model' is given twice"));
}

TEST_CASE("a token or key given twice in the text of the file is refused") {
  std::string text = small_file().dump();
  const std::string entry = R"("abc":257)";
  text.replace(text.find(entry), entry.size(), R"("abc":257,"abc":257)");
  CHECK_THROWS_WITH(Tokenizer::parse(text, "t.json"),
                    Catch::Contains("the token 'abc' is given twice"));
}

TEST_CASE("a missing file is a file error that names it") {
  CHECK_THROWS_AS(Tokenizer::load("/nowhere/tokenizer.json"), FileError);
  CHECK_THROWS_WITH(Tokenizer::load("/nowhere/tokenizer.json"),
                    Catch::Contains("/nowhere/tokenizer.json"));
}

TEST_CASE("old files without a model type and with the vocabulary after the merges are read") {
  const json file = small_file();
  std::string text = R"({"decoder":)" + file["decoder"].dump() + R"(,"pre_tokenizer":)" +
                     file["pre_tokenizer"].dump() + R"(,"model":{"merges":["a b"],"vocab":)";
  json vocabulary = file["model"]["vocab"];
  vocabulary.erase("abc");
  text += vocabulary.dump() + "}}";
  const Tokenizer tokenizer = Tokenizer::parse(text, "old.json");
  CHECK(Encoder(tokenizer).encode("abc") == std::vector<TokenId>{256, 'c'});
}
