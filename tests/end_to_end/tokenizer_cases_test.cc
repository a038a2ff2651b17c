// The tokenizer cases of the field through `train`: the ids that a run learns are those listed.
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "case_rows.h"
#include "catch.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;
using Ids = std::vector<TokenId>;

constexpr TokenId kEndOfText = 332;  // eos_token of the case tokenizers

std::string tokenizer(const std::string& name) {
  return kCases + "tokenizer/" + name;
}

// Texts and the rows that they must become: the listed ids and the end token, all learned.
struct Texts {
  std::string records;
  std::vector<CaseRow> rows;
};

Texts listed_texts(const std::string& file) {
  std::ifstream stream(kCases + "tokenizer/" + file);
  Texts texts;
  for (const auto& listed : nlohmann::json::parse(stream)) {
    texts.records += nlohmann::json{{"text", listed.at("text")}}.dump() + "\n";
    Ids ids = listed.at("ids");
    if (ids.empty()) {
      texts.rows.push_back({.left_out = LeftOutReason::no_supervised_token});
      continue;
    }
    ids.push_back(kEndOfText);
    texts.rows.push_back(known_row(ids, ids));
  }
  REQUIRE(texts.rows.size() > 5);
  return texts;
}

}  // namespace

TEST_CASE("Tokenizer cases: texts are trained as the listed ids, whatever the spelling of merges") {
  struct Case {
    std::string tokenizer, listed;
  };
  for (const Case& one : {Case{"merges_pairs", "pretokenizer.expected.json"},
                          Case{"merges_strings", "pretokenizer.expected.json"},
                          Case{"added_tokens", "added_tokens.expected.json"}}) {
    INFO(one.tokenizer);
    const Texts texts = listed_texts(one.listed);
    TrainerRun run;
    run.launch(2, {"--data", run.write("texts.jsonl", texts.records), "--tokenizer",
                   tokenizer(one.tokenizer), "--parse-special-in-text", "--lr", "0"});
    const auto codes = run.await_end();
    INFO(run.all_lines());
    REQUIRE(codes == std::vector<int>{0});
    check_against_rows(run, texts.rows);
  }
}

TEST_CASE("Case pad_is_im_end: padding is found by length, answers' end tokens are learned") {
  const std::string data = kCases + "chat/token_weighting.jsonl";
  const auto rows = rows_of(data);
  for (const std::string layout : {"flat", "padded"}) {
    INFO(layout);
    TrainerRun run;
    run_to_end(run, 1,
               {"--data", data, "--tokenizer", tokenizer("pad_is_im_end"), "--lr", "0", "--layout",
                layout, "--batching", "standard", "--batch-size", "4"});
    check_against_rows(run, rows);
    CHECK((run.metrics().front().at("padding_fraction") > 0) == (layout == "padded"));
  }
}

TEST_CASE("Case merges_broken: refused on all ranks with the merge, and no folder is made") {
  TrainerRun run;
  run.launch(2, {"--data", kCases + "raw/plain.jsonl", "--tokenizer", tokenizer("merges_broken")});
  CHECK(run.await_end() == std::vector<int>{3});
  INFO(run.all_lines());
  CHECK_THAT(run.all_lines(), Catch::Contains("merges_broken/tokenizer.json: model.merges[0]") &&
                                  Catch::Contains("two parts"));
  CHECK_FALSE(std::filesystem::exists(run.paths().folder));
  run.await_nothing_left();
}
