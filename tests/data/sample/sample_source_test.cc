// Checks of tokenizer and template before training, and the tokens that are put around texts.
#include "data/sample/sample_source.h"

#include <sstream>

#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/error.h"
#include "base/log.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "sample/changed_tokenizer.h"
#include "temporary_folder.h"

using namespace odb;
using nlohmann::json;
using Ids = std::vector<TokenId>;

namespace {

const std::string kEos = R"({"eos_token": "<|endoftext|>"})";

// A tokenizer's folder and the samples made with it.
class Fixture {
 public:
  explicit Fixture(const json& tokenizer, const std::string& config = kEos) {
    folder_.write("tokenizer.json", tokenizer.dump());
    if (!config.empty()) folder_.write("tokenizer_config.json", config);
    options.tokenizer = folder_.path();
    options.chat_template = "chatml";
  }

  Preprocessor open() { return {files_, options}; }

  Ids tokens_of(const std::string& record) {
    const Preprocessor preprocessor = open();
    RecordBuffer buffer;
    std::copy(record.begin(), record.end(), buffer.resize(record.size()).begin());
    Sample sample;
    REQUIRE(preprocessor.builder()->build(buffer, sample) == LeftOutReason::none);
    return sample.tokens;
  }

  // The log lines about its choices.
  std::string logged_choices() {
    std::ostringstream lines;
    set_log_sink(std::make_shared<spdlog::sinks::ostream_sink_mt>(lines));
    open().log_choices();
    set_log_sink(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    return lines.str();
  }

  DataOptions options;

 private:
  TemporaryFolder folder_;
  RealFileSystem files_;
};

json framed(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  json file = chat_tokenizer_file();
  json single = json::array();
  json tokens = json::object();
  const auto add = [&](const std::string& name) {
    single.push_back({{"SpecialToken", {{"id", name}, {"type_id", 0}}}});
    tokens[name] = {{"id", name}, {"ids", {added_token(file, name)["id"]}}, {"tokens", {name}}};
  };
  for (const std::string& name : before)
    add(name);
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  for (const std::string& name : after)
    add(name);
  file["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", single},
                            {"pair", json::array()},
                            {"special_tokens", tokens}};
  return file;
}

}  // namespace

TEST_CASE(
    "A template token that a content could contain or that depends on its context is refused") {
  for (const char* const flag : {"lstrip", "rstrip", "single_word"}) {
    INFO(flag);
    json file = chat_tokenizer_file();
    added_token(file, "<|im_end|>")[flag] = true;
    CHECK_THROWS_WITH(
        Fixture(file).open(),
        Catch::Contains("the token '<|im_end|>' is put around") && Catch::Contains(flag));
  }
  json file = chat_tokenizer_file();
  added_token(file, "<|im_start|>")["special"] = false;
  Fixture fixture(file);
  CHECK_THROWS_WITH(fixture.open(), Catch::Contains("'<|im_start|>'") &&
                                        Catch::Contains("not special, so a content could"));
  fixture.options.parse_special_in_text = true;
  CHECK_NOTHROW(fixture.open());
  json eos = chat_tokenizer_file();
  added_token(eos, "<|endoftext|>")["special"] = false;
  CHECK_THROWS_WITH(Fixture(eos).open(), Catch::Contains("'<|endoftext|>'"));
}

TEST_CASE("Texts get all tokens that the tokenizer puts around them, and an end") {
  const std::string record = R"({"text": "1"})";
  const json plain = chat_tokenizer_file();
  json file = plain;
  const auto id = [&](const std::string& name) {
    return added_token(file, name)["id"].get<TokenId>();
  };
  const TokenId begin = id("<|begin_of_text|>");
  const TokenId start = id("<|im_start|>");
  const TokenId turn = id("<|im_end|>");
  const TokenId end = id("<|endoftext|>");
  const TokenId one = *Tokenizer::parse(plain.dump(), "t").find("1");
  CHECK(Fixture(plain).tokens_of(record) == Ids{one, end});
  CHECK(Fixture(framed({"<|begin_of_text|>", "<|im_start|>"}, {"<|im_end|>"})).tokens_of(record) ==
        Ids{begin, start, one, turn, end});
  CHECK(Fixture(framed({}, {"<|endoftext|>"})).tokens_of(record) == Ids{one, end});
  CHECK(Fixture(framed({}, {"<|im_end|>"}), "").tokens_of(record) == Ids{one, turn});
}

TEST_CASE("A missing end-of-text token is logged, an unknown one is refused") {
  const json file = chat_tokenizer_file();
  for (const std::string config : {"", "{}"}) {
    CHECK_THAT(Fixture(file, config).logged_choices(), Catch::Contains("names no eos_token"));
    Fixture chat(file, config);
    chat.options.data_format = "messages";
    CHECK_THAT(chat.logged_choices(), !Catch::Contains("names no eos_token"));
  }
  CHECK_THAT(Fixture(file).logged_choices(), !Catch::Contains("names no eos_token"));
  CHECK_THROWS_WITH(Fixture(file, R"({"eos_token": "<|gone|>"})").open(),
                    Catch::Contains("names the eos_token '<|gone|>'"));
}

TEST_CASE("Records that are not conversations need no template") {
  json file = chat_tokenizer_file();
  added_token(file, "<|im_end|>")["content"] = "<|other|>";
  file["model"]["vocab"].erase("<|im_end|>");
  Fixture fixture(file, "");
  fixture.options.chat_template = "auto";
  CHECK_THROWS_WITH(fixture.open(), Catch::Contains("--data-format text or tokens"));
  fixture.options.data_format = "tokens";
  CHECK(fixture.open().template_name() == "none");
  CHECK(fixture.tokens_of(R"({"input_ids": [3, 4, 5]})") == Ids{3, 4, 5});
  fixture.options.data_format = "text";
  CHECK(fixture.tokens_of(R"({"text": "11"})").size() == 2);
}
