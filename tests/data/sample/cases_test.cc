// Cases from the field (tests/cases): files that copy faults seen with other trainers, with the
// right outcome.
#include <fstream>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/ignore_index.h"
#include "catch.h"
#include "records/record_texts.h"
#include "sample/test_tokenizer.h"

using namespace odb;
using Ids = std::vector<TokenId>;

namespace {

const std::string kCases = std::string(ODB_TESTS_FOLDER) + "/cases/";

struct Row {
  LeftOutReason left_out = LeftOutReason::none;
  Sample sample;
  std::string problem;
};

// All rows of a case file, bad ones skipped.
std::vector<Row> rows_of(const std::string& name, const std::string& chat_template = "chatml",
                         std::int64_t cutoff_length = 0) {
  static TestTokenizer tokenizer(kCases + "tokenizer/merges_pairs");
  DataFolder folder;
  const auto rendered_by = tokenizer.chat_template(chat_template);
  SampleBuilder builder({.cutoff_length = cutoff_length, .skip_bad = true}, *rendered_by,
                        tokenizer.new_encoder(), tokenizer.sample_tokens());
  const RecordFile file(kCases + name, folder.cache());
  std::vector<Row> rows;
  for (std::uint64_t row = 0; row < file.rows(); ++row) {
    Row& result = rows.emplace_back();
    BuiltSample made = builder.build(file, row, result.sample);
    result.left_out = made.left_out;
    result.problem = made.problem;
  }
  return rows;
}

nlohmann::json expected_of(const std::string& name) {
  std::ifstream file(kCases + name);
  return nlohmann::json::parse(file);
}

std::string text_of(const Ids& ids) {
  return test_tokenizer().tokenizer.decode(ids);
}

std::string supervised_text(const Sample& sample) {
  Ids ids;
  for (const std::int32_t label : sample.labels)
    if (label != kIgnoreIndex) ids.push_back(label);
  return text_of(ids);
}

}  // namespace

TEST_CASE("Case multi_turn: every answer, from its first content token through its end token") {
  const auto rows = rows_of("chat/multi_turn.jsonl");
  const nlohmann::json expected = expected_of("chat/multi_turn.expected.json");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].sample.tokens == expected["input_ids"].get<Ids>());
  CHECK(rows[0].sample.labels == expected["labels"].get<Ids>());
  CHECK(rows[0].sample.supervised == expected["supervised_tokens"].get<std::int64_t>());
}

TEST_CASE("Case typed_control_tokens: control tokens in a message stay plain text") {
  const auto rows = rows_of("chat/typed_control_tokens.jsonl");
  const nlohmann::json expected = expected_of("chat/typed_control_tokens.expected.json");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].sample.tokens == expected["input_ids"].get<Ids>());
  CHECK(rows[0].sample.labels == expected["labels"].get<Ids>());
}

TEST_CASE("Case truncated_answer: a row without any answer token is left out") {
  const auto rows = rows_of("chat/truncated_answer.jsonl", "chatml", 64);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].left_out == LeftOutReason::cut_away);
  CHECK(rows[1].left_out == LeftOutReason::none);
}

TEST_CASE("Case every_second_row_unlabelled: rows without an assistant turn are left out") {
  const auto rows = rows_of("chat/every_second_row_unlabelled.jsonl");
  REQUIRE(rows.size() == 8);
  for (std::size_t i = 0; i < rows.size(); ++i)
    CHECK(rows[i].left_out ==
          (i % 2 == 0 ? LeftOutReason::none : LeftOutReason::no_supervised_token));
}

TEST_CASE("Case thinking: kept in the last answer, dropped before, as Qwen3's template does") {
  const auto rows = rows_of("chat/thinking.jsonl", "qwen3");
  REQUIRE(rows.size() == 4);
  CHECK(text_of(rows[0].sample.tokens) ==
        "<|im_start|>user\nWhat is 2+2?<|im_end|>\n<|im_start|>assistant\nFour.<|im_end|>\n"
        "<|im_start|>user\nAnd 3+3?<|im_end|>\n<|im_start|>assistant\n<think>\nThree and three.\n"
        "</think>\n\nSix.<|im_end|>\n");
  CHECK(rows[1].sample.tokens == rows[3].sample.tokens);
  // The empty block that the template puts in is part of the answer.
  CHECK(supervised_text(rows[2].sample) == "<think>\n\n</think>\n\nFour.<|im_end|>");
  // With plain ChatML texts stay as they are.
  CHECK(supervised_text(rows_of("chat/thinking.jsonl", "chatml")[3].sample) ==
        "Two and two.\n</think>\n\nFour.<|im_end|>");
}

TEST_CASE("Case tool_calls: three spellings, one sample, calls trained, results not") {
  for (const std::string name : {"qwen3", "qwen3-instruct", "qwen2.5", "chatml"}) {
    INFO(name);
    const auto rows = rows_of("chat/tool_calls.jsonl", name);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0].sample.tokens == rows[1].sample.tokens);
    CHECK(rows[0].sample.tokens == rows[2].sample.tokens);
    const std::string trained = supervised_text(rows[0].sample);
    CHECK_THAT(trained, Catch::Contains("<tool_call>\n{\"name\": \"get_temp\", \"arguments\": "
                                        "{\"town\": \"Lindholm\"}}\n</tool_call><|im_end|>"));
    CHECK_THAT(trained, !Catch::Contains("celsius"));
  }
}

TEST_CASE("Case sharegpt_roles: roles never shift, nothing is dropped in silence") {
  const auto rows = rows_of("chat/sharegpt_roles.jsonl");
  REQUIRE(rows.size() == 13);
  const auto text = [&](std::size_t line) { return text_of(rows[line - 1].sample.tokens); };
  CHECK(text(1) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n");
  CHECK(rows[1].sample.tokens == rows[2].sample.tokens);
  CHECK(supervised_text(rows[3].sample) == "Welcome!<|im_end|>Hello.<|im_end|>");
  CHECK(text(5) ==
        "<|im_start|>user\nOne.<|im_end|>\n<|im_start|>user\nTwo.<|im_end|>\n"
        "<|im_start|>assistant\nBoth read.<|im_end|>\n");
  CHECK(supervised_text(rows[5].sample) == "Hello.<|im_end|>");
  CHECK(rows[6].sample.tokens == rows[0].sample.tokens);
  CHECK(rows[7].sample.tokens == rows[0].sample.tokens);
  CHECK(text(9) ==
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>system\nNow be formal.<|im_end|>\n"
        "<|im_start|>assistant\nGood day.<|im_end|>\n");
  CHECK_THAT(rows[9].problem,
             Catch::EndsWith("sharegpt_roles.jsonl:10: conversations[0].from: found the role "
                             "'narrator'; known: user, assistant, human, gpt, system, tool, "
                             "developer, chatgpt, model, bot, function, observation, "
                             "function_response, ipython, function_call"));
  CHECK(rows[10].left_out == LeftOutReason::empty);
  CHECK(supervised_text(rows[11].sample) == "<|im_end|>");
  CHECK_THAT(rows[12].problem,
             Catch::EndsWith(":13: conversations[1]: the key 'value' is missing"));
}

TEST_CASE("Case alpaca") {
  const auto rows = rows_of("chat/alpaca.jsonl");
  REQUIRE(rows.size() == 5);
  const auto text = [&](std::size_t line) { return text_of(rows[line - 1].sample.tokens); };
  CHECK(text(1) ==
        "<|im_start|>user\nName a fruit.<|im_end|>\n<|im_start|>assistant\nPlum.<|im_end|>\n");
  CHECK(text(2) ==
        "<|im_start|>user\nTranslate.\nBrot<|im_end|>\n<|im_start|>assistant\nbread<|im_end|>\n");
  CHECK(text(3) ==
        "<|im_start|>user\nTranslate.<|im_end|>\n<|im_start|>assistant\nbread<|im_end|>\n");
  CHECK(rows[3].left_out == LeftOutReason::no_supervised_token);
  CHECK(text(5) ==
        "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>\n"
        "<|im_start|>user\nPast turns.<|im_end|>\n<|im_start|>assistant\nFine.<|im_end|>\n");
}

TEST_CASE("Case raw: the same rows whatever the line ends") {
  const auto plain = rows_of("raw/plain.jsonl");
  REQUIRE(plain.size() == 3);
  for (const std::string name : {"raw/bom_crlf.jsonl", "raw/no_final_newline_blank_lines.jsonl"}) {
    const auto rows = rows_of(name);
    REQUIRE(rows.size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(rows[i].sample.tokens == plain[i].sample.tokens);
  }
}

TEST_CASE("Case unicode_separators: only a line feed ends a row") {
  const auto rows = rows_of("raw/unicode_separators.jsonl");
  REQUIRE(rows.size() == 3);
  const std::vector<std::string> separators = {"\u2028", "\u2029", "\xC2\x85"};
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(supervised_text(rows[i].sample) == "c" + separators[i] + "d<|im_end|>");
}

TEST_CASE("Case bad_rows: each bad row is named by its line, the others keep their numbers") {
  const auto rows = rows_of("raw/bad_rows.jsonl");
  REQUIRE(rows.size() == 13);
  for (const std::size_t line : {1, 3, 5, 9, 11, 13})
    CHECK(rows[line - 1].left_out == LeftOutReason::none);
  const std::vector<std::pair<std::size_t, std::string>> bad = {
      {2, "found bytes that are not UTF-8"},
      {4, "found a string without its closing quote"},
      {6, "found an array; expected an object"},
      {7, "found a number; expected an object"},
      {8, "found null; expected an object"},
      {10, "found a raw control character"},
      {12, "found text that is not a single JSON value"}};
  for (const auto& [line, message] : bad) {
    CHECK(rows[line - 1].left_out == LeftOutReason::bad_record);
    CHECK_THAT(rows[line - 1].problem,
               Catch::Contains(fmt::format("bad_rows.jsonl:{}: {}", line, message)));
  }
  CHECK_THAT(text_of(rows[10].sample.tokens),
             Catch::Contains(std::string("nul \0 inside<|im_end|>", 22)));
}

TEST_CASE("Case lone_surrogates: each half becomes U+FFFD") {
  const auto rows = rows_of("raw/lone_surrogates.jsonl");
  REQUIRE(rows.size() == 4);
  const std::vector<std::string> texts = {"pair \U0001F600 ok", "high only \uFFFD end",
                                          "low only \uFFFD end", "swapped \uFFFD\uFFFD end"};
  for (std::size_t i = 0; i < 4; ++i)
    CHECK_THAT(text_of(rows[i].sample.tokens), Catch::Contains(texts[i] + "<|im_end|>"));
}

TEST_CASE("Use cases turn_flags: an answer that is marked as context is not supervised") {
  for (const std::string key : {"weight", "train", "loss"}) {
    INFO(key);
    const auto rows = rows_of("use/turn_flags/" + key + ".jsonl");
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].problem.empty());
    CHECK(rows[0].left_out == LeftOutReason::none);
    CHECK(supervised_text(rows[0].sample) == "4<|im_end|>");
  }
}

TEST_CASE("Use cases turn_flags: three names of reasoning give the same ids, none an empty block") {
  const auto rows = rows_of("use/turn_flags/reasoning.jsonl", "qwen3");
  REQUIRE(rows.size() == 3);
  CHECK_THAT(text_of(rows[0].sample.tokens), Catch::Contains("<think>\nbecause\n</think>"));
  for (const Row& row : rows) {
    CHECK(row.sample.tokens == rows[0].sample.tokens);
    CHECK(row.sample.labels == rows[0].sample.labels);
  }
}
