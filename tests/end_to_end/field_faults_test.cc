// Kinds of fault met in the field that do not depend on one file, through `train` and `launch`:
// data processes that are killed, runs in parallel, broken evaluation data, a huge row.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/real_file_system.h"
#include "case_rows.h"
#include "catch.h"
#include "texts.h"
#include "train/output/ledger_file.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;

const std::string kBadRows = kCases + "raw/bad_rows.jsonl";

Arguments short_run(const TrainerRun& run, int rows) {
  return {"--data", run.texts("a.jsonl", rows), "--l-max", "64", "--lr", "1e-3"};
}

// 600 rows, whose steps are the same however many epochs there are.
Arguments steady_run(const TrainerRun& run) {
  Arguments arguments = short_run(run, 600);
  arguments.insert(arguments.end(), {"--data-workers", "1", "--depth", "2", "--window", "16",
                                     "--warmup", "0", "--lr-schedule", "constant"});
  return arguments;
}

// Kills rank 1's oldest data process: of one worker and one collate process.
void kill_data_process(TrainerRun& run) {
  std::vector<pid_t> processes;
  await("rank 1 has its data processes", [&] {
    processes = run.data_processes(1);
    return processes.size() == 2 || run.ended(1);
  });
  REQUIRE_FALSE(processes.empty());
  ::kill(processes.front(), SIGKILL);
}

}  // namespace

// The run that is struck has no end of its own, so that both deaths are in it.
TEST_CASE("Data processes that are killed are reported and forked again, and change no step") {
  TrainerRun calm, struck;
  run_to_end(calm, 2, steady_run(calm));
  check_coverage(calm, 1, 600);
  const std::vector<double> expected = calm.losses();
  REQUIRE(expected.size() > 30);

  Arguments arguments = steady_run(struck);
  arguments.insert(arguments.end(), {"--epochs", "1000000"});
  struck.start(2, arguments);
  for (const std::size_t steps : {2, 6}) {
    await("steps are logged", [&] { return struck.logged_steps() >= steps || struck.ended(0); });
    kill_data_process(struck);
  }
  await("the first epoch and both deaths are logged", [&] {
    return (struck.logged_steps() > expected.size() &&
            count_of(struck.lines(1), "died by SIGKILL") == 2) ||
           struck.ended(0);
  });
  struck.send(0, SIGTERM);
  const auto codes = struck.await_end();
  INFO(struck.all_lines());
  REQUIRE(codes == std::vector<int>{75, 75});
  std::vector<double> found = struck.losses();
  REQUIRE(found.size() > expected.size());
  found.resize(expected.size());
  CHECK((found == expected));
  RealFileSystem files;
  CHECK(ledger_coverage(files, struck.paths().ledgers(), 600).begin()->second.every_view_once());
  CHECK(count_of(struck.lines(1), "died by SIGKILL") == 2);
  CHECK(count_of(calm.all_lines(), "died by") == 0);
}

TEST_CASE("Two launches at once on one machine never meet") {
  TrainerRun one, other;
  one.launch(2, short_run(one, 61));
  other.launch(2, short_run(other, 47));
  CHECK(one.await_end() == std::vector<int>{0});
  CHECK(other.await_end() == std::vector<int>{0});
  INFO(one.all_lines() << other.all_lines());
  check_coverage(one, 1, 61);
  check_coverage(other, 1, 47);
}

TEST_CASE("A launch into a folder that another one writes is refused, and harms nothing") {
  TrainerRun owner, second;
  Arguments arguments = short_run(owner, 61);
  arguments.insert(arguments.end(), {"--epochs", "100000"});
  owner.launch(2, arguments);
  await("a step is logged", [&] { return owner.logged_steps() >= 1 || owner.ended(0); });
  arguments.insert(arguments.end(),
                   {"--output", owner.paths().folder, "--resume", "never", "--overwrite", "on"});
  second.launch(2, arguments);
  CHECK(second.await_end() == std::vector<int>{2});
  CHECK_THAT(second.all_lines(), Catch::Contains("another run writes into this folder: process "));
  const std::size_t before = owner.logged_steps();
  await("the owner goes on", [&] { return owner.logged_steps() > before || owner.ended(0); });
  owner.send(0, SIGTERM);
  CHECK(owner.await_end() == std::vector<int>{75});
  INFO(owner.all_lines());
  whole_checkpoint(owner, owner.summary().at("steps"));
}

TEST_CASE("A launch that is killed leaves no rank, and its folder to the next one") {
  TrainerRun killed, next;
  Arguments arguments = short_run(killed, 61);
  arguments.insert(arguments.end(), {"--epochs", "100000", "--output", killed.paths().folder});
  killed.launch(2, arguments);
  await("a step is logged", [&] { return killed.logged_steps() >= 1 || killed.ended(0); });
  killed.send(0, SIGKILL);
  CHECK(killed.await_end() == std::vector<int>{-SIGKILL});
  killed.await_nothing_left();
  arguments.insert(arguments.end(), {"--resume", "never", "--overwrite", "on", "--max-steps", "3"});
  next.launch(2, arguments);
  const auto codes = next.await_end();
  INFO(next.all_lines());
  CHECK(codes == std::vector<int>{0});
  CHECK(last_steps(killed) == std::map<int, std::int64_t>{{0, 3}, {1, 3}});
}

TEST_CASE("Ranks whose copies of a file are not the same are refused, naming the file") {
  struct Case {
    std::string flag, own, other, message;
  };
  TemporaryFolder folder;
  RealFileSystem files;
  const std::string conversations = kCases + "chat/token_weighting.jsonl";
  std::string rows = files.read_all(conversations);
  rows.at(rows.find("42")) = '5';  // as many rows and tokens: only the checksum differs
  const std::string stale = folder.write("a.jsonl", rows);
  for (const Case& one :
       {Case{"--data", conversations, stale, "file 1 of --data: \"4 rows, "},
        Case{"--data", conversations + ":2", conversations + ":0.5",
             "file 1 of --data: \"4 rows, "},
        Case{"--eval-data", conversations, stale, "file 1 of --eval-data: \"4 rows, "},
        Case{"--tokenizer", kCases + "tokenizer/merges_pairs", kCases + "tokenizer/merges_strings",
             "tokenizer and template: "},
        Case{"--model", kBaseModel, kCases + "models/tied_no_head", "model's config.json: "}}) {
    INFO(one.flag);
    TrainerRun run;
    Arguments arguments = {one.flag, one.own};
    if (one.flag != "--data") arguments.insert(arguments.end(), {"--data", conversations});
    Arguments others = arguments;
    others[1] = one.other;
    run.start_each({arguments, others});
    CHECK(run.await_end() == std::vector<int>{2, 2});
    INFO(run.all_lines());
    CHECK_THAT(run.lines(1),
               Catch::Contains("rank 1 reads other files than rank 0: " + one.message));
    CHECK(run.logged_steps() == 0);
    run.await_nothing_left();
  }
}

TEST_CASE("Broken evaluation data ends a run with its line, and what was trained is saved") {
  TrainerRun run;
  Arguments arguments = short_run(run, 20);
  arguments.insert(arguments.end(),
                   {"--eval-data", kBadRows, "--cache-dir", run.paths().folder + "-cache"});
  run.launch(2, arguments);
  CHECK(run.await_end() == std::vector<int>{3});
  INFO(run.all_lines());
  CHECK_THAT(run.all_lines(), Catch::Contains("bad_rows.jsonl:"));
  whole_checkpoint(run, run.summary().at("steps"));
  check_coverage(run, 1, 20);
  run.await_nothing_left();
}

TEST_CASE("Evaluation data without anything to learn is refused before anything is written") {
  TrainerRun run;
  Arguments arguments = short_run(run, 20);
  arguments.insert(arguments.end(),
                   {"--eval-data", run.write("none.jsonl", "{\"messages\": []}\n")});
  run.launch(2, arguments);
  CHECK(run.await_end() == std::vector<int>{3});
  CHECK_THAT(run.all_lines(), Catch::Contains("none.jsonl: no sample can be trained"));
  CHECK_FALSE(std::filesystem::exists(run.paths().folder));
}

TEST_CASE("A row of 16 MiB is cut to its length, and the rows beside it are trained") {
  TrainerRun run;
  std::string huge = "{\"text\": \"";
  while (huge.size() < 16 << 20)
    huge += "The ferry leaves pier 7, and 8. ";
  RealFileSystem files;
  const std::string rows = files.read_all(run.texts("a.jsonl", 20));
  run.launch(2, {"--data", run.write("huge.jsonl", rows + huge + "\"}\n" + rows), "--cutoff-len",
                 "50", "--l-max", "64", "--data-workers", "1"});
  const auto codes = run.await_end();
  INFO(run.all_lines());
  REQUIRE(codes == std::vector<int>{0});
  check_coverage(run, 1, 41);
  CHECK(run.summary().at("samples") == 41);
}
