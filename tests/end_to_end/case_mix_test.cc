// All chat and raw cases as one data set, as a user mixes files. With every strategy and layout, on
// two ranks that accumulate, every step's loss is that of the rows that the ledgers name.
#include <fstream>

#include <nlohmann/json.hpp>

#include "case_rows.h"
#include "catch.h"
#include "model/golden_models.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;

const Arguments kFiles = {"chat/alpaca.jsonl",
                          "chat/every_second_row_unlabelled.jsonl",
                          "chat/multi_turn.jsonl",
                          "chat/sharegpt_roles.jsonl",
                          "chat/thinking.jsonl",
                          "chat/token_weighting.jsonl",
                          "chat/tool_calls.jsonl",
                          "chat/truncated_answer.jsonl",
                          "chat/typed_control_tokens.jsonl",
                          "raw/bad_rows.jsonl",
                          "raw/lone_surrogates.jsonl",
                          "raw/plain.jsonl",
                          "raw/unicode_separators.jsonl"};
constexpr std::int64_t kCutoff = 64;

struct Mix {
  Arguments arguments;
  std::vector<CaseRow> rows;
};

Mix whole_mix() {
  Mix mix;
  for (const std::string& file : kFiles) {
    mix.arguments.insert(mix.arguments.end(), {"--data", kCases + file});
    const auto rows = rows_of(kCases + file, {.cutoff_length = kCutoff});
    mix.rows.insert(mix.rows.end(), rows.begin(), rows.end());
  }
  return mix;
}

std::vector<nlohmann::json> evaluations(const TrainerRun& run) {
  std::ifstream file(run.paths().folder + "/evaluations.jsonl");
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(nlohmann::json::parse(line));
  return lines;
}

// At learning rate 0, an evaluation sees the initial model.
void check_evaluations(const TrainerRun& run, const Arguments& files) {
  LanguageModel model = load_model(kBaseModel);
  const auto found = evaluations(run);
  REQUIRE(found.size() == files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    INFO(files[i]);
    const auto rows = rows_of(kCases + files[i], {.cutoff_length = kCutoff});
    std::int64_t samples = 0, supervised = 0;
    for (const CaseRow& row : rows) {
      samples += row.left_out ? 0 : 1;
      supervised += row.left_out ? 0 : row.sample.supervised;
    }
    CHECK(found[i].at("samples") == samples);
    CHECK(found[i].at("supervised_tokens") == supervised);
    CHECK(found[i].at("loss") == Approx(mean_loss(model, rows)).epsilon(1e-5));
  }
}

void check_mix(const std::string& batching, const std::string& layout,
               const Arguments& step_length = {"--accumulate", "2"}) {
  INFO(batching << ", " << layout);
  TrainerRun run;
  Mix mix = whole_mix();
  const Arguments evaluated = {"chat/sharegpt_roles.jsonl", "raw/bad_rows.jsonl"};
  for (const std::string& file : evaluated)
    mix.arguments.insert(mix.arguments.end(), {"--eval-data", kCases + file});
  mix.arguments.insert(mix.arguments.end(),
                       {"--on-bad-sample", "skip", "--cutoff-len", std::to_string(kCutoff),
                        "--l-max", "128", "--lr", "0", "--batching", batching, "--layout", layout,
                        "--cache-dir", run.paths().folder + "-cache"});
  if (batching == "standard" || batching == "sorted" || batching == "bucket")
    mix.arguments.insert(mix.arguments.end(), {"--batch-size", "3"});
  mix.arguments.insert(mix.arguments.end(), step_length.begin(), step_length.end());
  run.launch(2, mix.arguments);
  const auto codes = run.await_end();
  INFO(run.all_lines());
  REQUIRE(codes == std::vector<int>{0});
  check_against_rows(run, mix.rows);
  CHECK(run.metrics().size() > 2);
  check_evaluations(run, evaluated);
}

}  // namespace

TEST_CASE("Cases mixed, flat: each step's loss is that of its rows, whatever the strategy") {
  for (const std::string batching :
       {"odb", "standard", "sorted", "bucket", "gmt", "bmt", "packing"})
    check_mix(batching, "flat");
}

TEST_CASE("Cases mixed, padded: each step's loss is that of its rows, whatever the strategy") {
  for (const std::string batching : {"odb", "standard", "sorted", "bucket", "gmt", "bmt"})
    check_mix(batching, "padded");
}

TEST_CASE("Cases mixed, steps of a number of tokens or of samples over all ranks") {
  check_mix("odb", "flat", {"--global-batch-tokens", "300"});
  check_mix("odb", "padded", {"--global-batch-samples", "7"});
}
