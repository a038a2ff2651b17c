// bench loader from outside: what is printed, and which exit code comes back.
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "catch.h"
#include "run_trainer.h"
#include "temporary_folder.h"

using namespace odb;

namespace {

const std::string kTokenizer =
    " --tokenizer '" ODB_TESTS_FOLDER "/cases/tokenizer/merges_pairs' --chat-template chatml";

std::string conversations(int count) {
  std::string text;
  for (int row = 0; row < count; ++row)
    text += R"({"messages": [{"role": "user", "content": "say )" + std::to_string(row) +
            R"("}, {"role": "assistant", "content": ")" + std::string(row % 30 + 1, 'a') +
            "\"}]}\n";
  return text;
}

}  // namespace

TEST_CASE("bench loader reports rates, padding and what each process takes, as JSON") {
  const TemporaryFolder folder;
  const std::string data = " --data '" + folder.write("a.jsonl", conversations(200)) + "'";
  for (const std::string batching : {"odb --layout padded", "sorted", "packing"}) {
    const Outcome outcome =
        odb_trainer("bench loader --json --l-max 256 --data-workers 1 --epochs 2 --batching " +
                    batching + data + kTokenizer);
    INFO(outcome.errors);
    REQUIRE(outcome.code == 0);
    const auto result = nlohmann::json::parse(outcome.output);
    CHECK(result["samples"] == 400);
    CHECK(result["left_out_views"] == 0);
    CHECK(result["deaths"] == 0);
    for (const char* key : {"samples_per_second", "tokens_per_second", "budget_fill", "seconds",
                            "first_batch_seconds", "rounds", "slots"})
      CHECK(result[key] > 0);
    CHECK(result["padding_fraction"] >= 0);
    REQUIRE(result["processes"].size() == 3);
    CHECK(result["processes"][2]["role"] == "worker 0");
    CHECK(result["processes"][2]["private_bytes"] > 0);
  }
}

TEST_CASE("bench loader for people, up to a limit, without workers") {
  const TemporaryFolder folder;
  const std::string data = " --data '" + folder.write("a.jsonl", conversations(200)) + "'";
  const Outcome outcome =
      odb_trainer("bench loader --l-max 256 --data-workers 0 --max-tokens 1000 --layout flat" +
                  data + kTokenizer);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.output, Catch::Contains("tokens/s; padding 0.0 %") &&
                                 Catch::Contains("  collate ") && Catch::Contains("private\n"));
}

TEST_CASE("bench loader: bad input comes back as its exit code") {
  const TemporaryFolder folder;
  const std::string bad = folder.write("bad.jsonl", conversations(3) + "{\"messages\": 7}\n");
  const Outcome strict = odb_trainer("bench loader --data '" + bad + "'" + kTokenizer);
  CHECK(strict.code == 3);
  CHECK_THAT(strict.errors, Catch::Contains("bad.jsonl:4: messages: found a number"));
  const Outcome lenient =
      odb_trainer("bench loader --json --on-bad-sample skip --data '" + bad + "'" + kTokenizer);
  CHECK(lenient.code == 0);
  CHECK(nlohmann::json::parse(lenient.output)["left_out_views"] == 1);
  CHECK(odb_trainer("bench loader --data /nowhere.jsonl" + kTokenizer).code == 3);
  CHECK(odb_trainer("bench loader").code == 2);
  CHECK(odb_trainer("bench loader --data-workers 65 --data '" + bad + "'" + kTokenizer).code == 2);
}

TEST_CASE("bench loader with nothing but rows that are left out ends with exit code 3") {
  const TemporaryFolder folder;
  const std::string data = " --data '" + folder.write("a.jsonl", conversations(3)) + "'";
  const Outcome outcome = odb_trainer("bench loader --cutoff-len 2" + data + kTokenizer);
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.errors, Catch::Contains("all 3 rows are left out"));
}
