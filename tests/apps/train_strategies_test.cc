// train through launch, as a user starts it: every strategy and layout trains one epoch on two
// ranks, and the ledgers show that every view was trained exactly once.
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "base/real_file_system.h"
#include "catch.h"
#include "run_trainer.h"
#include "temporary_folder.h"
#include "texts.h"
#include "train/output/ledger_file.h"

using namespace odb;
using nlohmann::json;

namespace {

constexpr int kRows = 61;
const std::string kModel =
    " --model '" ODB_TESTS_FOLDER "/cases/models/base' --tokenizer '" ODB_TESTS_FOLDER
    "/cases/tokenizer/merges_pairs'";

// Texts of 1 to 30 letters, in no order.
std::string texts() {
  std::string text;
  for (int row = 0; row < kRows; ++row)
    text += json{{"text", std::string(row * 7 % 30 + 1, 'a')}}.dump() + "\n";
  return text;
}

Outcome train_on_two(const TemporaryFolder& folder, const std::string& arguments) {
  const std::string data = folder.write("texts.jsonl", texts());
  return odb_trainer(
      "launch --nproc 2 -- train --device cpu --threads 1 --console off --data-workers 1 "
      "--cutoff-len 64 --l-max 128 --lr 1e-2 --output '" +
      folder / "run" + "' --data '" + data + "' --eval-data '" + data + "'" + kModel + " " +
      arguments);
}

json last_line(const std::string& path) {
  const std::string text = content_of(path);
  REQUIRE(text.size() > 1);
  const std::size_t before = text.rfind('\n', text.size() - 2);
  return json::parse(text.substr(before == std::string::npos ? 0 : before + 1));
}

void check_epoch(const TemporaryFolder& folder, bool padded) {
  RealFileSystem files;
  const auto coverage = ledger_coverage(files, folder / "run/ledger", kRows);
  REQUIRE(coverage.size() == 1);
  CHECK(coverage.at(0).trained == kRows);
  CHECK(coverage.at(0).every_view_once());
  CHECK(coverage.at(0).left_out.empty());
  const json summary = json::parse(content_of(folder / "run/summary.json"));
  CHECK(summary["unique_views"] == kRows);
  CHECK(summary["steps"] > 3);
  CHECK((summary["padding_fraction"] > 0) == padded);
  // The model answers with letters in equal likelihood at first: ln 352 = 5.86.
  const json evaluation = last_line(folder / "run/evaluations.jsonl");
  CHECK(evaluation["step"] == summary["steps"]);
  CHECK(evaluation["loss"] < 3);
}

}  // namespace

TEST_CASE("every strategy and layout trains each view of an epoch once on two ranks") {
  for (const std::string layout : {"flat", "padded"})
    for (const std::string batching :
         {"odb", "standard", "sorted", "bucket", "gmt", "bmt", "packing"}) {
      if (batching == "packing" && layout == "padded") continue;  // refused: see below
      const TemporaryFolder folder;
      const bool fixed = batching == "standard" || batching == "sorted" || batching == "bucket";
      const Outcome outcome = train_on_two(folder, "--batching " + batching + " --layout " +
                                                       layout + (fixed ? " --batch-size 4" : ""));
      INFO(batching << ", " << layout << ": " << outcome.errors);
      REQUIRE(outcome.code == 0);
      check_epoch(folder, layout == "padded");
    }
}

TEST_CASE("packing with the padded layout is refused before anything is written") {
  const TemporaryFolder folder;
  const Outcome outcome = train_on_two(folder, "--batching packing --layout padded");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.errors, Catch::Contains("use --layout flat"));
  CHECK_THAT(outcome.errors, !Catch::Contains("measuring"));  // known from the options alone
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
}

TEST_CASE("an output that is a file is refused before the data is read") {
  const TemporaryFolder folder;
  const Outcome outcome = train_on_two(folder, "--data '" + folder.write("run", "") + "'");
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.errors, Catch::Contains("found a file; expected a folder"));
  CHECK_FALSE(std::filesystem::exists(folder / ".odb-cache"));
}

TEST_CASE("a GPU that does not exist is refused before the data is read") {
  const TemporaryFolder folder;
  const Outcome outcome =
      odb_trainer("train --device cuda:250 --output '" + (folder / "run") + "' --data '" +
                  folder.write("texts.jsonl", texts()) + "'" + kModel);
  CHECK(outcome.code == 2);
  CHECK_THAT(outcome.errors, Catch::Contains("--device cuda:250: found"));
  CHECK_FALSE(std::filesystem::exists(folder / ".odb-cache"));
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
}

TEST_CASE("train accepts every file of configs/") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ODB_TESTS_FOLDER "/../configs")) {
    INFO(entry.path());
    const Outcome outcome = odb_trainer("train --output /nowhere --print-config --config '" +
                                        entry.path().string() + "'");
    INFO(outcome.errors);
    REQUIRE(outcome.code == 0);
    CHECK(json::parse(outcome.output)["model"] != "");
    ++count;
  }
  CHECK(count >= 3);
}
