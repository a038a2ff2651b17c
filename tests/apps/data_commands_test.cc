// inspect data and tokenize --samples from outside: what is printed, and which exit code comes
// back.
#include <string>

#include <nlohmann/json.hpp>

#include "catch.h"
#include "run_trainer.h"
#include "temporary_folder.h"
#include "texts.h"

using namespace odb;

namespace {

const std::string kCases = ODB_TESTS_FOLDER "/cases/";
const std::string kTokenizer = " --tokenizer '" + kCases + "tokenizer/merges_pairs'";

// With a cache of its own: the case files' folder stays as it is.
Outcome inspect(const std::string& file, const std::string& arguments = "") {
  const TemporaryFolder cache;
  return odb_trainer("inspect data --data '" + file + "'" + kTokenizer + " --cache-dir '" +
                     (cache / "cache") + "' " + arguments);
}

}  // namespace

TEST_CASE("inspect data reports bad rows by line and goes on") {
  const Outcome outcome = inspect(kCases + "raw/bad_rows.jsonl");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.output, Catch::Contains("bad_rows.jsonl: 13 rows (lines), 6 messages\n"));
  CHECK_THAT(outcome.output, Catch::Contains("left out: 7 rows (53.85 %): bad record\n"));
  CHECK_THAT(outcome.output, Catch::Contains("bad_rows.jsonl:2: found bytes that are not UTF-8"));
  CHECK_THAT(outcome.errors, Catch::Contains("has no chat template"));
}

TEST_CASE("inspect data without a reader of its report ends without a message of its own") {
  const TemporaryFolder cache;
  const Outcome outcome =
      odb_trainer_unread("inspect data --data '" + kCases + "raw/bad_rows.jsonl'" + kTokenizer +
                         " --cache-dir '" + (cache / "cache") + "'");
  CHECK(outcome.code == 141);
  CHECK(count_of(outcome.errors, "odb-trainer: ") == 0);
}

TEST_CASE("inspect data, strict: the first bad row ends it with exit code 3") {
  const Outcome outcome =
      inspect(kCases + "raw/bad_rows.jsonl", "--on-bad-sample fail --threads 1");
  CHECK(outcome.code == 3);
  CHECK(outcome.output.empty());
  CHECK_THAT(outcome.errors, Catch::Contains("bad_rows.jsonl:2: found bytes that are not UTF-8"));
}

TEST_CASE("inspect data as JSON and SVG") {
  const TemporaryFolder folder;
  const Outcome outcome =
      inspect(kCases + "chat/sharegpt_roles.jsonl", "--json --svg '" + (folder / "a.svg") + "'");
  CHECK(outcome.code == 0);
  const auto report = nlohmann::json::parse(outcome.output);
  CHECK(report["trained"] == 10);
  CHECK(report["left_out"] == nlohmann::json({{"bad record", 2},
                                              {"empty", 1},
                                              {"no supervised token", 0},
                                              {"answers behind the cutoff length", 0}}));
  CHECK(report["files"][0]["formats"] == nlohmann::json({{"messages", 1}, {"sharegpt", 10}}));
  CHECK(report["chat_template"] == "chatml");
  CHECK_THAT(content_of(folder / "a.svg"), Catch::StartsWith("<svg "));
}

TEST_CASE("inspect data --show prints samples with what is supervised") {
  const Outcome outcome = inspect(kCases + "chat/multi_turn.jsonl", "--show 2");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.output, Catch::Contains("multi_turn.jsonl:1: "));
  CHECK_THAT(outcome.output, Catch::Contains("45 supervised\n"));
  CHECK_THAT(outcome.output,
             Catch::Contains("<|im_start|>assistant\n\u27E6 You're welcome.<|im_end|>\u27E7\n"));
}

TEST_CASE("inspect data --show prints nothing of an empty row but that it is left out") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("a.jsonl",
                   "{\"messages\": [{\"role\": \"assistant\", \"content\": \"x\"}]}\n"
                   "{\"messages\": []}\n");
  const Outcome outcome = inspect(path, "--show 2");
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.output, Catch::Contains("--- " + path + ":2: left out: empty\n"));
}

TEST_CASE("inspect data takes no more threads than a machine may have") {
  const Outcome outcome = inspect(kCases + "chat/multi_turn.jsonl", "--threads 100000");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.errors, Catch::Contains("threads") && Catch::Contains("1024"));
}

TEST_CASE("A file of which nothing can be trained is refused with exit code 3") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.jsonl", "{\"messages\": []}\n");
  const Outcome outcome = inspect(path);
  CHECK(outcome.code == 3);
  CHECK_THAT(outcome.output, Catch::Contains("left out: 1 rows (100.00 %): empty\n"));
  CHECK_THAT(outcome.errors, Catch::Contains("no sample can be trained: all 1 rows are left out"));
}

TEST_CASE("inspect requires to be given data or model") {
  CHECK(odb_trainer("inspect").code == 2);
  CHECK(odb_trainer("inspect --help").code == 0);
  CHECK_THAT(odb_trainer("inspect dada").errors,
             Catch::Contains("unknown 'dada'; expected data or model"));
  CHECK_THAT(odb_trainer("inspect data").errors, Catch::Contains("--data is missing"));
  CHECK_THAT(odb_trainer("inspect data --data x.jsonl").errors,
             Catch::Contains("--tokenizer is missing"));
}

TEST_CASE("tokenize --samples: records in, ids and labels out") {
  const Outcome outcome =
      odb_trainer("tokenize --samples" + kTokenizer + " <'" + kCases + "chat/multi_turn.jsonl'");
  CHECK(outcome.code == 0);
  const auto sample = nlohmann::json::parse(outcome.output);
  const auto expected = nlohmann::json::parse(content_of(kCases + "chat/multi_turn.expected.json"));
  CHECK(sample["input_ids"] == expected["input_ids"]);
  CHECK(sample["labels"] == expected["labels"]);
}

TEST_CASE("tokenize --samples names the rows that it leaves out or refuses") {
  const TemporaryFolder folder;
  const std::string path = folder.write("a.jsonl", "\n{\"messages\": []}\n{\"messages\": 1}\n");
  const Outcome outcome = odb_trainer("tokenize --samples" + kTokenizer + " <'" + path + "'");
  CHECK(outcome.code == 3);
  CHECK(outcome.output == "{\"left_out\":\"empty\"}\n");
  CHECK_THAT(outcome.errors, Catch::Contains("standard input:3: messages: found a number"));
  CHECK(odb_trainer("tokenize --samples --decode" + kTokenizer).code == 2);
  CHECK(odb_trainer("tokenize --samples").code == 2);
}

TEST_CASE("bench samples reports bytes per second") {
  const TemporaryFolder cache;
  const Outcome outcome =
      odb_trainer("bench samples --json --rounds 1 --data '" + kCases +
                  "raw/plain.jsonl' --cache-dir '" + (cache / "cache") + "'" + kTokenizer);
  CHECK(outcome.code == 0);
  const auto result = nlohmann::json::parse(outcome.output);
  CHECK(result["samples"] == 3);
  CHECK(result["bytes_per_second_warm"] > 0);
}
