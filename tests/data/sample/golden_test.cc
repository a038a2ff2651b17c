// Every conversation of tests/golden/chat through every template, against transformers with the
// families' own templates: the text, the ids, and which of them are supervised.
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "base/ignore_index.h"
#include "catch.h"
#include "sample/test_tokenizer.h"

using namespace odb;

namespace {

const std::string kFolder = std::string(ODB_TESTS_FOLDER) + "/golden/chat/";

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  REQUIRE_FALSE(lines.empty());
  return lines;
}

RecordBuffer buffer_of(const std::string& text) {
  RecordBuffer buffer;
  std::copy(text.begin(), text.end(), buffer.resize(text.size()).begin());
  return buffer;
}

// The rendering as the string that the family's template returns.
std::string text_of(const Rendering& rendering, const Tokenizer& tokenizer) {
  std::string text;
  for (const Piece& piece : rendering.pieces())
    text += piece.is_text() ? rendering.text().substr(piece.begin, piece.end - piece.begin)
                            : std::string(tokenizer.spelling(piece.control));
  return text;
}

std::vector<std::int32_t> expected_labels(const nlohmann::json& expected) {
  const auto ids = expected.at("input_ids").get<std::vector<std::int32_t>>();
  std::vector<std::int32_t> labels(ids.size(), kIgnoreIndex);
  for (const auto& run : expected.at("supervised"))
    for (std::size_t i = run.at(0); i < run.at(1).get<std::size_t>(); ++i)
      labels[i] = ids[i];
  return labels;
}

}  // namespace

TEST_CASE("Texts, ids and labels equal those of the families' own templates") {
  std::map<std::string, std::string> conversations;
  for (const std::string& line : lines_of(kFolder + "talks.jsonl"))
    conversations[nlohmann::json::parse(line).at("name")] = line;
  TestTokenizer& test = test_tokenizer();

  for (const std::string name : {"qwen3", "qwen3-instruct", "qwen2.5", "llama3", "llama3.1"}) {
    const auto chat_template = test.chat_template(name);
    RecordParser parser({});
    SampleBuilder builder({.cutoff_length = 0}, *chat_template, test.new_encoder(),
                          test.sample_tokens());
    const std::vector<std::string> lines = lines_of(kFolder + name + ".expected.jsonl");
    CHECK(lines.size() > 20);
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const nlohmann::json expected = nlohmann::json::parse(lines[i]);
      INFO(name << ": " << expected.at("talk"));
      RecordBuffer record = buffer_of(conversations.at(expected.at("talk")));

      Rendering rendering;
      chat_template->render(parser.parse(record).conversation, rendering);
      CHECK(text_of(rendering, test.tokenizer) == expected.at("text").get<std::string>());

      Sample sample;
      const LeftOutReason left_out = builder.build(record, sample);
      CHECK(sample.tokens == expected.at("input_ids").get<std::vector<TokenId>>());
      CHECK(sample.labels == expected_labels(expected));
      CHECK(left_out == (expected.at("supervised").empty() ? LeftOutReason::no_supervised_token
                                                           : LeftOutReason::none));
    }
  }
}
