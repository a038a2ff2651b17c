// tokenize and bench tokenizer from outside.
#include <cmath>
#include <string>

#include <nlohmann/json.hpp>

#include "catch.h"
#include "run_trainer.h"
#include "temporary_folder.h"

using namespace odb;

namespace {

const std::string kTokenizer =
    std::string("--tokenizer '") + ODB_TESTS_FOLDER + "/cases/tokenizer/merges_pairs'";

// Runs the binary with `input` on standard input.
Outcome with_input(const std::string& arguments, const std::string& input) {
  const TemporaryFolder folder;
  return odb_trainer(arguments + " <'" + folder.write("input", input) + "'");
}

}  // namespace

TEST_CASE("tokenize: a line of text to a line of ids, and back") {
  const std::string texts = "\"x\\n\\n\\ny\"\n\n\"1999 <|im_end|>\"\n\"\"\n";
  const Outcome ids = with_input("tokenize " + kTokenizer, texts);
  CHECK(ids.code == 0);
  CHECK(ids.errors.empty());
  CHECK(ids.output == "[87,198,198,198,88]\n[16,24,24,24,220,27,91,72,76,62,68,77,67,91,29]\n[]\n");
  CHECK(with_input("tokenize --decode " + kTokenizer, ids.output).output ==
        "\"x\\n\\n\\ny\"\n\"1999 <|im_end|>\"\n\"\"\n");
}

TEST_CASE("tokenize: a byte order mark before the first line is none of its bytes") {
  CHECK(with_input("tokenize " + kTokenizer, "\xEF\xBB\xBF\"x\"\n").output == "[87]\n");
  CHECK(with_input("tokenize " + kTokenizer, "\"x\"\n\xEF\xBB\xBF\"x\"\n").code == 3);
}

TEST_CASE("tokenize: control tokens in text count when asked for") {
  const Outcome ids =
      with_input("tokenize --parse-special-in-text " + kTokenizer, "\"9<|im_end|>\"\n");
  CHECK(ids.output == "[24,332]\n");
}

TEST_CASE("tokenize: a bad line ends it with exit code 3 and its number") {
  const Outcome bad = with_input("tokenize " + kTokenizer, "\"good\"\n{}\n");
  CHECK(bad.code == 3);
  CHECK_THAT(bad.errors, Catch::Contains("standard input:2: expected a JSON string"));
  const Outcome unknown = with_input("tokenize --decode " + kTokenizer, "[1]\n[337]\n");
  CHECK(unknown.code == 3);
  CHECK_THAT(unknown.errors, Catch::Contains("standard input:2: ") && Catch::Contains("337"));
}

TEST_CASE("tokenize: a missing tokenizer is exit code 4, a missing option 2") {
  const TemporaryFolder folder;
  const Outcome missing = with_input("tokenize --tokenizer /nowhere", "");
  CHECK(missing.code == 4);
  CHECK_THAT(missing.errors, Catch::Contains("--tokenizer /nowhere: no such file or folder"));
  const Outcome empty = with_input("tokenize --tokenizer '" + folder.path() + "'", "");
  CHECK(empty.code == 4);
  CHECK_THAT(empty.errors,
             Catch::Contains("--tokenizer " + folder.path() + ": found no tokenizer.json there"));
  CHECK(with_input("tokenize", "").code == 2);
}

TEST_CASE("tokenize: without a reader it ends, however much there is to read") {
  const Outcome outcome = odb_trainer_unread("tokenize " + kTokenizer, "yes '\"x\"' |");
  CHECK(outcome.code == 141);
  CHECK(outcome.errors.empty());
}

TEST_CASE("bench tokenizer reports its measurements as JSON") {
  const TemporaryFolder folder;
  const std::string data =
      folder.write("data.jsonl", R"({"messages":[{"role":"user","content":"hello there"}]})"
                                 "\n\"more\"\n");
  const Outcome outcome =
      with_input("bench tokenizer --json --rounds 1 " + kTokenizer + " --data '" + data + "'", "");
  REQUIRE(outcome.code == 0);
  const auto measured = nlohmann::json::parse(outcome.output);
  CHECK(measured["texts"] == 2);
  CHECK(measured["bytes"] == 15);
  CHECK(measured["tokens"].get<int>() > 2);
  CHECK(measured["bytes_per_second_cold"].get<double>() > 0);
  CHECK(measured["bytes_per_second_warm"].get<double>() > 0);
  CHECK(measured["load_seconds"].get<double>() > 0);
  CHECK(std::abs(measured["private_memory_bytes"].get<double>()) < 1e10);
  CHECK(with_input("bench tokenise", "").code == 2);
  CHECK(with_input("bench", "").code == 0);
}
