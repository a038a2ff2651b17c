// launch from outside: what is refused or answered before there are ranks, and what the user reads
// when a rank is lost or fails.
#include <signal.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/real_file_system.h"
#include "catch.h"
#include "end_to_end/trainer_runs.h"
#include "processes.h"
#include "run_trainer.h"
#include "temporary_folder.h"
#include "terminal.h"
#include "texts.h"
#include "train/output/run_lock.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;

const std::string kModel = ODB_TESTS_FOLDER "/cases/models/base";

// The options of `train`, in `folder`, with all it needs.
std::string arguments_in(const TemporaryFolder& folder, const std::string& model = kModel) {
  const std::string data = folder.write("a.jsonl", "{\"text\": \"aa\"}\n{\"text\": \"aaa\"}\n");
  return "--data '" + data + "' --device cpu --threads 1 --chat-template chatml --output '" +
         folder / "run" + "' --model '" + model +
         "' --tokenizer '" ODB_TESTS_FOLDER "/cases/tokenizer/merges_pairs' ";
}

Outcome launch(const std::string& arguments, const std::string& launch_arguments = "") {
  return odb_trainer("launch --nproc 3 " + launch_arguments + " -- train " + arguments);
}

std::string environment_of(pid_t process) {
  return '\0' + content_of("/proc/" + std::to_string(process) + "/environ");
}

// The process of a rank that a launch has started whose command line holds `mark`. Data processes
// are its children and have the same arguments and environment.
std::optional<pid_t> process_of_rank(const std::string& mark, int rank) {
  const std::string number = std::string(1, '\0') + "RANK=" + std::to_string(rank) + '\0';
  for (const SeenProcess& seen : processes_with(mark))
    if (environment_of(seen.process).find(number) != std::string::npos &&
        environment_of(seen.parent).find("ODB_FINAL_ERROR_FD=") == std::string::npos)
      return seen.process;
  return std::nullopt;
}

// Three ranks that would run without end; `signal` hits one of them in the middle. Returns what the
// user read, once launch has ended with code 5 and nothing is left.
std::string lose_rank(int rank, int signal, const std::string& timeout) {
  TrainerRun run;
  const std::string data = run.texts("a.jsonl", 90);
  run.launch(3,
             {"--data", data, "--l-max", "256", "--depth", "2", "--epochs", "1000000", "--timeout",
              timeout},
             {"--patience", signal == SIGSTOP ? "3s" : "10min"});
  await("steps are logged", [&] { return run.logged_steps() >= 3 || run.ended(0); });
  const auto process = process_of_rank(data, rank);
  REQUIRE(process.has_value());
  ::kill(*process, signal);
  const std::vector<int> codes = run.await_end();
  INFO(run.all_lines());
  CHECK(codes == std::vector<int>{5});
  run.await_nothing_left();
  return run.lines(0);
}

}  // namespace

TEST_CASE("a rank that is killed is named once, by launch, and the others leave by themselves") {
  struct Case {
    int rank;
    std::string timeout;
  };
  // A rank's silence would be found after the timeout; that of the store's host with the next beat.
  for (const auto& [rank, timeout] : {Case{2, "10min"}, Case{0, "10s"}}) {
    const std::string lines = lose_rank(rank, SIGKILL, timeout);
    INFO(lines);
    const std::string name = "rank " + std::to_string(rank);
    CHECK(count_of(lines, name + " was killed by signal 9 (Killed); it was last ") == 1);
    CHECK(count_of(lines, "exit code 5") == 1);
    CHECK(count_of(lines, "is lost") + count_of(lines, "failed: ") == 0);
    CHECK(count_of(lines, "will be killed") == 0);
  }
}

TEST_CASE("a rank that hangs is named once, and does not outlive the others") {
  for (const int rank : {0, 1}) {
    const std::string lines = lose_rank(rank, SIGSTOP, "4s");
    INFO(lines);
    CHECK(count_of(lines, "exit code 5") == 1);
    CHECK(count_of(lines, "rank " + std::to_string(rank) + " is lost: no sign of life for ") +
              count_of(lines, "hosting the store, which does not answer") >=
          1);
    CHECK(count_of(lines, "is lost") == 1);
    CHECK(count_of(lines, "rank " + std::to_string(rank) + " has not left within 3s") == 1);
  }
}

// Rank 1 is stopped meanwhile, so that the run cannot end at once. With log files the terminal
// shows nothing of rank 0: launch acknowledges it.
TEST_CASE("Ctrl-C at the terminal of launch is acknowledged once, while the run cannot end yet") {
  for (const bool log_files : {false, true}) {
    Terminal terminal;
    TrainerRun run;
    run.write_to(terminal);
    const std::string data = run.texts("a.jsonl", 90);
    const std::string logs = run.paths().folder + "-logs";
    run.launch(2, {"--data", data, "--l-max", "256", "--epochs", "1000000", "--timeout", "20min"},
               log_files ? Arguments{"--log-dir", logs} : Arguments{});
    await("steps are logged", [&] {
      terminal.text();
      return run.logged_steps() >= 3 || run.ended(0);
    });
    INFO(terminal.text());
    const auto stopped = process_of_rank(data, 1);
    REQUIRE(stopped.has_value());
    ::kill(*stopped, SIGSTOP);
    terminal.type("\x03");
    const std::string by_rank =
        "SIGINT: finishing the micro-batch and saving; press again to leave without saving";
    const std::string by_launch =
        "SIGINT: passed on to the ranks; press again to leave without saving";
    await("it is acknowledged", [&] {
      return count_of(terminal.text(), log_files ? by_launch : by_rank) > 0 || run.ended(0);
    });
    if (log_files)
      await("rank 0 acknowledges it in its file",
            [&] { return count_of(content_of(logs + "/rank-00000.log"), by_rank) > 0; });
    ::kill(*stopped, SIGCONT);
    CHECK(run.await_end() == std::vector<int>{75});
    INFO(terminal.text());
    CHECK(count_of(terminal.text(), by_rank) == (log_files ? 0 : 1));
    CHECK(count_of(terminal.text(), by_launch) == (log_files ? 1 : 0));
    if (log_files) CHECK(count_of(content_of(logs + "/rank-00001.log"), by_rank) == 0);
    run.await_nothing_left();
  }
}

TEST_CASE("a cause that ends later than the others is reported all the same") {
  TrainerRun run;
  const std::string data = run.texts("a.jsonl", 90);
  run.launch(2, {"--data", data, "--l-max", "256", "--epochs", "1000000", "--timeout", "4s"},
             {"--patience", "10min"});
  await("steps are logged", [&] { return run.logged_steps() >= 3 || run.ended(0); });
  const auto hangs = process_of_rank(data, 0);
  REQUIRE(hangs.has_value());
  ::kill(*hangs, SIGSTOP);
  await("rank 0 is reported as missing", [&] {
    return count_of(run.lines(0), "rank 1 ended with exit code 5") > 0 || run.ended(0);
  });
  ::kill(*hangs, SIGKILL);
  CHECK(run.await_end() == std::vector<int>{5});
  INFO(run.all_lines());
  CHECK(count_of(run.all_lines(), "rank 0 was killed by signal 9 (Killed)") == 1);
  CHECK(count_of(run.all_lines(), "the run ends with exit code 5") == 1);
  run.await_nothing_left();
}

TEST_CASE("a log that cannot be written is refused before any rank runs") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "logs/rank-00002.log");
  const Outcome outcome =
      launch(arguments_in(folder) + "--init random", "--log-dir '" + folder / "logs" + "'");
  INFO(outcome.errors);
  CHECK(outcome.code == 4);
  CHECK(count_of(outcome.errors,
                 "rank-00002.log: Is a directory (errno 21); give another --log-dir") == 1);
  CHECK(count_of(content_of(folder / "logs/rank-00000.log"), "\n") == 1);
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
}

TEST_CASE("a broken record is reported once, with the rank that met it") {
  TrainerRun run;
  RealFileSystem files;
  const std::string rows = files.read_all(run.texts("a.jsonl", 60));
  run.launch(3, {"--data", run.write("b.jsonl", rows + "{broken\n" + rows), "--batching",
                 "standard", "--batch-size", "2"});
  CHECK(run.await_end() == std::vector<int>{3});
  INFO(run.all_lines());
  CHECK(count_of(run.all_lines(), "b.jsonl:61") == 1);
  CHECK(count_of(run.all_lines(), "exit code 3") == 1);
  run.await_nothing_left();
}

TEST_CASE("what train prints and ends is printed once, and there are no ranks") {
  const Outcome help = launch("--help");
  CHECK(help.code == 0);
  CHECK(count_of(help.output, "odb-trainer train [options]") == 1);
  CHECK(help.errors.empty());

  const Outcome config = launch("--l-max 77 --print-config");
  CHECK(config.code == 0);
  CHECK(nlohmann::json::parse(config.output).at("l_max") == 77);
  CHECK(config.errors.empty());

  const Outcome schema = launch("--print-schema");
  CHECK(schema.code == 0);
  CHECK(nlohmann::json::parse(schema.output).contains("properties"));
}

TEST_CASE("what cannot be trained is reported once, whoever finds it") {
  struct Case {
    std::string arguments;
    std::string message;
    int code;
  };
  const TemporaryFolder folder;
  const std::string all = arguments_in(folder);
  auto config = nlohmann::json::parse(content_of(kModel + "/config.json"));
  config["vocab_size"] = 5;
  config["bos_token_id"] = 3;
  config["eos_token_id"] = 4;
  folder.write("small/config.json", config.dump());
  for (const auto& [arguments, message, code] : {
           // By launch, before any rank starts.
           Case{"--no-such-thing 1", "unknown option --no-such-thing", 2},
           Case{all + "--l-max 0", "--l-max: ", 2},
           Case{all + "--config '" + folder / "none.json" + "'", "none.json", 2},
           Case{"--data a.jsonl", "is missing", 2},
           Case{all + "--rank 1 --world-size 3", "--rank cannot be given", 2},
           Case{all + "--local-rank 1", "--local-rank cannot be given", 2},
           Case{all + "--rendezvous 127.0.0.1:7", "--rendezvous cannot be given", 2},
           // By all ranks alike.
           Case{all + "--data '" + folder / "none.jsonl" + "'", "none.jsonl", 3},
           Case{arguments_in(folder, folder / "none"), folder / "none: no such folder", 4},
           Case{arguments_in(folder, folder / "small") + "--init random",
                "the model's embedding 5 rows", 2},
           Case{all + "--join off", "--join off", 2},
           Case{all + "--eval-data '" + folder / "none.jsonl" + "'", "none.jsonl: cannot be opened",
                3},
       }) {
    const Outcome outcome = launch(arguments);
    INFO(arguments << "\n" << outcome.errors);
    CHECK(outcome.code == code);
    CHECK(count_of(outcome.errors, message) == 1);
  }
}

TEST_CASE("arguments other than train are refused, once") {
  for (const std::string arguments :
       {"", "--", "-- trian", "-- version", "train --model none --output none"}) {
    const Outcome outcome = odb_trainer("launch --nproc 3 " + arguments);
    INFO(outcome.errors);
    CHECK(outcome.code == 2);
    CHECK(count_of(outcome.errors, "expected odb-trainer launch --nproc N -- train ...") == 1);
  }
}

TEST_CASE("a folder that another run holds is reported once, though only rank 0 checks it") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "run");
  const RunLock held(folder / "run/lock", this_owner());
  const Outcome outcome = launch(arguments_in(folder) + "--init random");
  INFO(outcome.errors);
  CHECK(outcome.code == 2);
  CHECK(count_of(outcome.errors, "another run writes into this folder") == 1);
  CHECK(count_of(outcome.errors, "rank 0 ended with exit code 2") == 1);
}

TEST_CASE("logs of earlier starts stay, and each start begins with a header line") {
  const TemporaryFolder folder;
  const std::string arguments = arguments_in(folder) + "--data '" + folder / "none.jsonl" + "'";
  for (int start = 1; start <= 2; ++start) {
    CHECK(launch(arguments, "--log-dir '" + folder / "logs" + "'").code == 3);
    for (const std::string rank : {"0", "2"}) {
      const std::string lines = content_of(folder / "logs/rank-0000" + rank + ".log");
      INFO(lines);
      CHECK(count_of(lines, "odb-trainer launch: rank " + rank + " of 3: train --data ") ==
            static_cast<std::size_t>(start));
      CHECK(count_of(lines, "none.jsonl: ") == static_cast<std::size_t>(start));
    }
  }
}
