#include "data/templates/template_choice.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "data/templates/jinja_text.h"
#include "temporary_folder.h"

using namespace odb;

namespace {

FindToken knows(std::vector<std::string> tokens) {
  return [tokens = std::move(tokens)](std::string_view text) -> std::optional<TokenId> {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i] == text) return static_cast<TokenId>(i);
    return std::nullopt;
  };
}

const std::vector<std::string> kChatml = {"<|im_start|>", "<|im_end|>"};

std::string refusal(const std::string& option, const TokenizerConfig& config,
                    const FindToken& find) {
  try {
    choose_template(option, config, find);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("The hash ignores line ends and blanks around the text") {
  const std::string hash = template_hash("{{ a }}\nb");
  CHECK(hash.size() == 32);
  CHECK(template_hash("  {{ a }}\r\nb\n\n") == hash);
  CHECK(template_hash("{{ a }}\n b") != hash);
  CHECK(template_hash("") == template_hash(" \n"));
}

// Each golden file has the hash of the template text that produced it, and our template of that
// name is compared with it (sample/golden_test.cc).
TEST_CASE("The hash of a family's own template selects the template that is equal to it") {
  for (const std::string name : {"qwen3", "qwen3-instruct", "qwen2.5", "llama3", "llama3.1"}) {
    std::ifstream golden(std::string(ODB_TESTS_FOLDER) + "/golden/chat/" + name +
                         ".expected.jsonl");
    std::string head;
    REQUIRE(std::getline(golden, head));
    CHECK(known_template(nlohmann::json::parse(head).at("template_hash").get<std::string>()) ==
          name);
  }
  CHECK(known_template("00000000000000000000000000000000") == std::nullopt);
}

TEST_CASE("Which template is chosen") {
  CHECK(choose_template("qwen3", {}, knows(kChatml)).name == "qwen3");
  CHECK(choose_template("qwen3", {.chat_template = "unknown"}, knows(kChatml)).notice.empty());
  const ChosenTemplate fallback = choose_template("auto", {.folder = "tok"}, knows(kChatml));
  CHECK(fallback.name == "chatml");
  CHECK_THAT(fallback.notice, Catch::Contains("tok has no chat template"));
}

TEST_CASE("A chosen template has a text for the model's folder, which auto recognizes again") {
  const std::vector<std::string> tokens = {
      "<|im_start|>", "<|im_end|>", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
      "<|eot_id|>",   "<e>"};
  for (const std::string& name : chat_template_names()) {
    INFO(name);
    TokenizerConfig config{.folder = "tok", .chat_template = "unknown", .eos_token = "<e>"};
    const ChosenTemplate chosen = choose_template(name, config, knows(tokens));
    CHECK(chosen.jinja == jinja_text(name));
    config.chat_template = chosen.jinja + "\n";
    const ChosenTemplate again = choose_template("auto", config, knows(tokens));
    CHECK(again.name == name);
    CHECK(again.jinja.empty());  // the folder has it
  }
  CHECK(jinja_text("vicuna").empty());
  CHECK(choose_template("auto", {.folder = "tok"}, knows(kChatml)).jinja == jinja_text("chatml"));
  CHECK(no_template().jinja.empty());
}

TEST_CASE("An unknown template is refused with the known names") {
  const std::string known = "qwen3, qwen3-instruct, qwen2.5, chatml, llama3, llama3.1, plain";
  CHECK_THAT(refusal("vicuna", {}, knows(kChatml)),
             Catch::Matchers::Equals("--chat-template vicuna: unknown; known: auto, " + known));
  CHECK_THAT(refusal("auto", {.folder = "tok", .chat_template = "{{ x }}"}, knows(kChatml)),
             Catch::StartsWith("tok: its chat template (hash " + template_hash("{{ x }}") +
                               ") is none of the known ones: " + known));
  CHECK_THAT(refusal("auto", {.folder = "tok"}, knows({"<|im_start|>"})),
             Catch::StartsWith("tok: has no chat template and not the tokens of ChatML"));
  CHECK_THAT(refusal("qwen3", {}, knows({"<|im_start|>"})),
             Catch::StartsWith("the chat template qwen3 needs the token '<|im_end|>'"));
  CHECK_THAT(refusal("llama3", {}, knows(kChatml)), Catch::Contains("<|begin_of_text|>"));
  CHECK_THAT(refusal("plain", {}, knows(kChatml)), Catch::Contains("no eos_token"));
}

TEST_CASE("What is read from a tokenizer's folder") {
  RealFileSystem files;
  TemporaryFolder folder;
  const auto read = [&](const std::string& json) {
    folder.write("tokenizer_config.json", json);
    return read_tokenizer_config(files, folder.path());
  };
  CHECK(read_tokenizer_config(files, folder.path()).chat_template == std::nullopt);
  CHECK(read(R"({"eos_token": "<e>"})").eos_token == "<e>");
  CHECK(read(R"({"eos_token": {"content": "<e>"}})").eos_token == "<e>");
  CHECK(read(R"({"eos_token": null})").eos_token.empty());
  CHECK(read(R"({"chat_template": "one"})").chat_template == "one");
  CHECK(
      read(
          R"({"chat_template": [{"name": "tool_use", "template": "t"}, {"name": "default", "template": "d"}]})")
          .chat_template == "d");
  CHECK_THROWS_AS(read(R"({"chat_template": [{"name": "rag", "template": "t"}]})"), DataError);
  CHECK_THROWS_AS(read(R"({"eos_token": 7})"), DataError);
  CHECK_THROWS_AS(read("[]"), DataError);
  CHECK_THROWS_AS(read("{"), DataError);
  read(R"({"chat_template": "old"})");
  folder.write("chat_template.jinja", "new");
  CHECK(read_tokenizer_config(files, folder.path()).chat_template == "new");
}
