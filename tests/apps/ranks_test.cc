// Several ranks from outside: bench align, and bench loader over Gloo with ranks that are lost.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "catch.h"
#include "processes.h"
#include "run_trainer.h"
#include "temporary_folder.h"
#include "texts.h"

using namespace odb;

namespace {

const std::string kTokenizer =
    " --tokenizer '" ODB_TESTS_FOLDER "/cases/tokenizer/merges_pairs' --chat-template chatml";

std::string texts(int count) {
  std::string text;
  for (int row = 0; row < count; ++row)
    text += "{\"text\": \"" + std::string(row % 30 + 1, 'a') + "\"}\n";
  return text;
}

// The odb-trainer processes whose command line holds `mark`, with their parents.
std::map<pid_t, pid_t> processes_of(const std::string& mark) {
  std::map<pid_t, pid_t> found;
  for (const SeenProcess& seen : processes_with(mark))
    if (seen.command.starts_with(ODB_TRAINER)) found[seen.process] = seen.parent;
  return found;
}

// The ranks of the command, in their order; empty while it has not forked `world` of them.
std::vector<pid_t> ranks_of(const std::string& mark, std::size_t world) {
  const auto processes = processes_of(mark);
  std::vector<pid_t> ranks;
  for (const auto& [process, parent] : processes)
    if (processes.contains(parent) && !processes.contains(processes.at(parent)))
      ranks.push_back(process);
  return ranks.size() == world ? ranks : std::vector<pid_t>{};
}

// Whether the two threads of its heartbeat run in every rank: then each has found the store.
bool all_beat(const std::vector<pid_t>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [](pid_t rank) {
    std::error_code gone;
    const std::filesystem::directory_iterator threads("/proc/" + std::to_string(rank) + "/task",
                                                      gone);
    return !gone && std::distance(begin(threads), end(threads)) >= 3;
  });
}

// Counts the ranks that report `rank` as missing: lost or, if it was hit before its first sign of
// life, never started.
std::size_t who_miss(const std::string& text, const std::string& rank) {
  return count_of(text, rank + " is lost: ") + count_of(text, rank + " did not start within ");
}

// Three ranks that would run without end; `signal` hits one of them once all send heartbeats.
Outcome lose_rank(std::size_t rank, int signal) {
  const TemporaryFolder folder;
  const std::string data = folder.write("a.jsonl", texts(100));
  auto outcome = std::async(std::launch::async, [&] {
    return odb_trainer(
        "bench loader --nproc 3 --timeout 10s --data-workers 1 --l-max 256 --epochs "
        "1000000000 --data '" +
        data + "'" + kTokenizer);
  });
  std::vector<pid_t> ranks;
  const auto running = [&] {
    return outcome.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready;
  };
  while (running() && !(ranks = ranks_of(data, 3), ranks.size() == 3 && all_beat(ranks))) {
  }
  if (ranks.size() == 3) ::kill(ranks[rank], signal);
  const Outcome ended = outcome.get();
  // Data processes are killed with their rank; a moment later they are gone.
  while (!processes_of(data).empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(ranks.size() == 3);
  return ended;
}

}  // namespace

TEST_CASE("bench align reports the latency of a round, and what a rank sends in it") {
  const Outcome outcome = odb_trainer("bench align --ranks 2 --ranks 3 --rounds 20 --json");
  INFO(outcome.errors);
  REQUIRE(outcome.code == 0);
  const auto result = nlohmann::json::parse(outcome.output);
  CHECK(result["numbers_per_round"] == 8 + 5 * 16);
  REQUIRE(result["measured"].size() == 2);
  CHECK(result["measured"][1]["ranks"] == 3);
  CHECK(result["measured"][1]["median_milliseconds"] > 0);
  // Twelve doublings, two reductions; each message holds its numbers and their count.
  CHECK(result["load"].back() == nlohmann::json{{"ranks", 4096},
                                                {"messages_per_rank_and_round", 24},
                                                {"bytes_per_rank_and_round", 12 * 8 * (88 + 2)}});
}

TEST_CASE("ranks meet on the given network, and an unknown one is refused") {
  CHECK(odb_trainer("bench align --ranks 2 --rounds 5 --json --network lo").code == 0);
  const Outcome outcome = odb_trainer("bench align --ranks 2 --rounds 5 --network no-such-one");
  CHECK(outcome.code == 2);
  CHECK(count_of(outcome.errors, "'no-such-one'") > 0);
}

TEST_CASE("bench loader with several ranks: every sample once, padding and idle share reported") {
  const TemporaryFolder folder;
  const std::string data = " --data '" + folder.write("a.jsonl", texts(101)) + "'";
  for (const std::string batching : {"odb", "odb --align paper", "sorted", "gmt"}) {
    const Outcome outcome = odb_trainer(
        "bench loader --nproc 3 --epochs 2 --json --l-max 256 --data-workers 1 --batching " +
        batching + data + kTokenizer);
    INFO(outcome.errors);
    REQUIRE(outcome.code == 0);
    const auto result = nlohmann::json::parse(outcome.output);
    CHECK(result["samples"] == 202);
    CHECK(result["nproc"] == 3);
    CHECK(result["deaths"] == 0);
    CHECK(result["align_milliseconds_per_round"] > 0);
  }
}

TEST_CASE("what no rank can do is refused once, before any rank starts") {
  const TemporaryFolder folder;
  const std::string data = " --data '" + folder.write("a.jsonl", texts(3)) + "'";
  const Outcome outcome = odb_trainer("bench loader --nproc 4 --join off" + data + kTokenizer);
  CHECK(outcome.code == 2);
  CHECK(count_of(outcome.errors, "--join off with") + count_of(outcome.errors, "--join off and") ==
        1);
}

TEST_CASE("a broken record on one rank ends all with code 3, and nobody is lost") {
  const TemporaryFolder folder;
  const std::string data =
      " --data '" + folder.write("a.jsonl", texts(60) + "{broken\n" + texts(60)) + "'";
  const Outcome outcome = odb_trainer("bench loader --nproc 4 --timeout 30s" + data + kTokenizer);
  INFO(outcome.errors);
  CHECK(outcome.code == 3);
  CHECK(count_of(outcome.errors, "a.jsonl:61") == 1);
  CHECK(count_of(outcome.errors, "lost") == 0);
}

TEST_CASE("a rank that is killed ends the others with code 5 and its name") {
  const Outcome outcome = lose_rank(2, SIGKILL);
  CHECK(outcome.code == 5);
  INFO(outcome.errors);
  CHECK(who_miss(outcome.errors, "rank 2") == 2);
}

TEST_CASE("a rank that is stopped ends the others with code 5 and its name") {
  const Outcome outcome = lose_rank(1, SIGSTOP);
  CHECK(outcome.code == 5);
  INFO(outcome.errors);
  CHECK(who_miss(outcome.errors, "rank 1") == 2);
}

TEST_CASE("the rank that hosts the store may be the one that is killed or stopped") {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    const Outcome outcome = lose_rank(0, signal);
    INFO(outcome.errors);
    CHECK(outcome.code == 5);
    CHECK(who_miss(outcome.errors, "rank 0") == 2);
  }
}
