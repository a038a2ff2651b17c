// The chat and raw cases of the field through `train`: what each run learns is what the file says.
#include <filesystem>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "case_rows.h"
#include "catch.h"
#include "texts.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;

constexpr auto kUnlearnable = LeftOutReason::no_supervised_token;
constexpr auto kBad = LeftOutReason::bad_record;

struct Case {
  std::string file;
  LeftOutLines left_out = {};
  Arguments arguments = {};
  RowOptions made = {};
  std::string like = file;  // the file whose rows these are
};

Arguments words_of(const TrainerRun& run, const Case& one) {
  Arguments arguments = {
      "--data",          kCases + one.file,      "--lr",        "0",
      "--chat-template", one.made.chat_template, "--cache-dir", run.paths().folder + "-cache"};
  if (one.made.cutoff_length > 0)
    arguments.insert(arguments.end(), {"--cutoff-len", std::to_string(one.made.cutoff_length)});
  arguments.insert(arguments.end(), one.arguments.begin(), one.arguments.end());
  return arguments;
}

// On one rank, and on two that are launched.
void check_trained(const Case& one) {
  INFO(one.file << ", " << one.made.chat_template);
  const auto rows = rows_of(kCases + one.like, one.made);
  CHECK((left_out_lines(rows) == one.left_out));
  TrainerRun alone, both;
  run_to_end(alone, 1, words_of(alone, one));
  check_against_rows(alone, rows);
  both.launch(2, words_of(both, one));
  const auto codes = both.await_end();
  INFO(both.all_lines());
  REQUIRE(codes == std::vector<int>{0});
  check_against_rows(both, rows);
}

// Ends with the code before anything is trained, and prints this; leaves no checkpoint.
std::string check_refused(const Case& one, int code) {
  INFO(one.file);
  TrainerRun run;
  run.launch(2, words_of(run, one));
  CHECK(run.await_end() == std::vector<int>{code});
  CHECK(run.logged_steps() == 0);
  const std::string checkpoints = run.paths().checkpoints();
  CHECK((!std::filesystem::exists(checkpoints) || std::filesystem::is_empty(checkpoints)));
  run.await_nothing_left();
  return run.all_lines();
}

nlohmann::json read_json(const std::string& path) {
  std::ifstream stream(path);
  return nlohmann::json::parse(stream);
}

}  // namespace

TEST_CASE("Chat and raw cases: the first step's loss over all ranks is that of transformers") {
  const auto golden = read_json(ODB_TESTS_FOLDER "/golden/training/case_losses.json");
  REQUIRE(golden.at("files").size() >= 8);
  for (const auto& [file, expected] : golden.at("files").items()) {
    INFO(file);
    TrainerRun run;
    run.launch(2,
               words_of(run, {.file = file, .made = {.cutoff_length = expected.at("cutoff_len")}}));
    const auto codes = run.await_end();
    INFO(run.all_lines());
    REQUIRE(codes == std::vector<int>{0});
    REQUIRE(run.metrics().size() == 1);
    const auto step = run.metrics().front();
    CHECK(step.at("samples") == expected.at("samples"));
    CHECK(step.at("supervised_tokens") == expected.at("supervised_tokens"));
    CHECK(step.at("loss").get<double>() == Approx(expected.at("loss").get<double>()).margin(1e-4));
  }
}

TEST_CASE("Chat cases with their ids listed train those ids and labels") {
  for (const std::string name : {"multi_turn", "typed_control_tokens"}) {
    INFO(name);
    const auto expected = read_json(kCases + "chat/" + name + ".expected.json");
    const std::vector<CaseRow> rows = {known_row(expected.at("input_ids"), expected.at("labels"))};
    TrainerRun run;
    run_to_end(run, 2, words_of(run, {.file = "chat/" + name + ".jsonl"}));
    check_against_rows(run, rows);
    if (name == "multi_turn")
      CHECK(run.summary().at("supervised_tokens") == expected.at("supervised_tokens"));
  }
}

TEST_CASE("Chat cases: every row is trained as expected, or left out with its reason") {
  const Arguments skip = {"--on-bad-sample", "skip"};
  for (const Case& one : {
           Case{.file = "chat/thinking.jsonl", .made = {.chat_template = "qwen3"}},
           Case{.file = "chat/thinking.jsonl"},
           Case{.file = "chat/tool_calls.jsonl", .made = {.chat_template = "qwen3"}},
           Case{.file = "chat/alpaca.jsonl", .left_out = {{4, kUnlearnable}}},
           Case{.file = "chat/sharegpt_roles.jsonl",
                .left_out = {{10, kBad}, {11, kUnlearnable}, {13, kBad}},
                .arguments = skip},
           Case{.file = "chat/truncated_answer.jsonl",
                .left_out = {{1, kUnlearnable}},
                .made = {.cutoff_length = 64}},
           Case{.file = "chat/token_weighting.jsonl"},
           Case{.file = "chat/every_second_row_unlabelled.jsonl",
                .left_out =
                    {{2, kUnlearnable}, {4, kUnlearnable}, {6, kUnlearnable}, {8, kUnlearnable}}},
       })
    check_trained(one);
}

TEST_CASE("Chat cases: spellings of one conversation have the same loss") {
  // Lines of one file that mean the same, each trained as a file of its own.
  struct Same {
    std::string file, chat_template;
    std::vector<std::size_t> lines;
  };
  for (const Same& same : {Same{"chat/tool_calls.jsonl", "qwen3", {1, 2, 3}},
                           Same{"chat/thinking.jsonl", "qwen3", {2, 4}},
                           Same{"chat/sharegpt_roles.jsonl", "chatml", {1, 7, 8}},
                           Same{"chat/sharegpt_roles.jsonl", "chatml", {2, 3}}}) {
    std::vector<std::string> lines(1);
    std::ifstream file(kCases + same.file);
    for (std::string line; std::getline(file, line);)
      lines.push_back(line);
    std::set<std::string> results;
    for (const std::size_t number : same.lines) {
      TrainerRun run;
      run_to_end(run, 1,
                 {"--data", run.write("row.jsonl", lines.at(number) + "\n"), "--lr", "0",
                  "--chat-template", same.chat_template});
      const auto metrics = run.metrics().front();
      results.insert(
          nlohmann::json{metrics.at("tokens"), metrics.at("supervised_tokens"), metrics.at("loss")}
              .dump());
    }
    INFO(same.file);
    CHECK(results.size() == 1);
  }
}

TEST_CASE("Chat cases: the last, shorter step of an epoch counts its own tokens alone") {
  const Arguments arguments = {"--batching", "standard", "--batch-size", "1", "--accumulate", "3"};
  check_trained({.file = "chat/token_weighting.jsonl", .arguments = arguments});
  check_trained(
      {.file = "chat/every_second_row_unlabelled.jsonl",
       .left_out = {{2, kUnlearnable}, {4, kUnlearnable}, {6, kUnlearnable}, {8, kUnlearnable}},
       .arguments = arguments});
}

TEST_CASE("Raw cases: line ends, separators and halves of surrogates") {
  for (const Case& one :
       {Case{.file = "raw/plain.jsonl"},
        Case{.file = "raw/bom_crlf.jsonl", .like = "raw/plain.jsonl"},
        Case{.file = "raw/no_final_newline_blank_lines.jsonl", .like = "raw/plain.jsonl"},
        Case{.file = "raw/unicode_separators.jsonl"}, Case{.file = "raw/lone_surrogates.jsonl"}})
    check_trained(one);
}

TEST_CASE("Raw cases: bad rows are left out by number, and reported by line, once") {
  const Case one = {
      .file = "raw/bad_rows.jsonl",
      .left_out = {{2, kBad}, {4, kBad}, {6, kBad}, {7, kBad}, {8, kBad}, {10, kBad}, {12, kBad}},
      .arguments = {"--on-bad-sample", "skip"}};
  check_trained(one);
  TrainerRun run;
  Arguments arguments = words_of(run, one);
  arguments.insert(arguments.end(), {"--epochs", "2"});
  run_to_end(run, 1, arguments);
  CHECK(count_of(run.lines(0), "left out: ") == one.left_out.size());
  for (const auto& [line, reason] : one.left_out) {
    const std::string place = "bad_rows.jsonl:" + std::to_string(line) + ": ";
    INFO(place << " in\n" << run.lines(0));
    CHECK(count_of(run.lines(0), place) == 1);
  }
  CHECK(run.metrics().back().at("epoch") == 2);
  CHECK(run.summary().at("left_out_views") == 2 * one.left_out.size());
}

TEST_CASE("Chat and raw cases: bad rows end a run by default, before its first step") {
  CHECK_THAT(check_refused({.file = "raw/bad_rows.jsonl"}, 3), Catch::Contains("bad_rows.jsonl:"));
  CHECK_THAT(
      check_refused({.file = "chat/sharegpt_roles.jsonl"}, 3),
      Catch::Contains("the role 'narrator'") || Catch::Contains("the key 'value' is missing"));
}
