// How runs end: peers that are lost at any moment, stops, divergence, shards that are uneven.
#include <signal.h>

#include <algorithm>
#include <deque>
#include <thread>

#include <fmt/format.h>

#include "base/real_file_system.h"
#include "base/rng.h"
#include "catch.h"
#include "disposition.h"
#include "model/files/safetensors.h"
#include "texts.h"
#include "trainer_runs.h"

using namespace odb;

namespace {

using Arguments = std::vector<std::string>;
using std::chrono::milliseconds;

// A run that does not end by itself.
Arguments endless(const TrainerRun& run) {
  return {"--data",    run.texts("a.jsonl", 90),
          "--l-max",   "256",
          "--depth",   "2",
          "--epochs",  "1000000",
          "--timeout", "4s"};
}

void pause(Rng& rng, std::uint64_t max_milliseconds) {
  std::this_thread::sleep_for(milliseconds(rng.below(max_milliseconds)));
}

enum class Moment { step, data_wait, evaluation };

// Waits until the run is at the moment.
void await_moment(TrainerRun& run, Moment moment, int rank, Rng& rng) {
  const std::size_t steps = moment == Moment::evaluation ? 1 : 1 + rng.below(20);
  await("steps are logged", [&] { return run.logged_steps() >= steps || run.ended(0); });
  if (moment == Moment::data_wait) {
    run.stop_data(rank);
    std::size_t count = 0;  // until all slots that were ready are gone
    await("steps stop", [&] {
      const std::size_t before = std::exchange(count, run.logged_steps());
      std::this_thread::sleep_for(milliseconds(200));
      return count == before;
    });
  }
  pause(rng, 60);
}

// A run of `world` ranks, of which `rank` is hit by `signal`.
struct Loss {
  int world;
  int rank;
  int signal;
};

void check_lost(TrainerRun& run, const Loss& loss) {
  for (int rank = 0; rank < loss.world; ++rank)
    if (rank != loss.rank) await("the others leave", [&] { return run.ended(rank); });
  run.send(loss.rank, SIGKILL);  // where it was stopped
  std::vector<int> expected(static_cast<std::size_t>(loss.world), 5);
  expected[static_cast<std::size_t>(loss.rank)] = -SIGKILL;
  const std::vector<int> codes = run.await_end();
  INFO(run.all_lines());
  CHECK(codes == expected);
  for (int rank = 0; rank < loss.world; ++rank)
    if (rank != loss.rank)
      CHECK(count_of(run.lines(rank), "rank " + std::to_string(loss.rank) + " is lost: ") == 1);
  run.await_nothing_left();
}

// Runs in parallel, each hit at such a moment: all other ranks leave with code 5 and the name of
// the lost one, and nothing stays.
void lose_ranks(Moment moment, const std::vector<Loss>& losses, std::uint64_t seed) {
  Rng rng(seed, RandomPurpose::tests);
  std::deque<TrainerRun> runs(losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    Arguments arguments = endless(runs[i]);
    if (moment == Moment::evaluation)  // of many rows, after the first step
      for (const std::string& word :
           {std::string("--eval-data"), runs[i].texts("e.jsonl", 500) + ":400",
            std::string("--eval-every"), std::string("1 step")})
        arguments.push_back(word);
    runs[i].start(losses[i].world, arguments);
  }
  for (std::size_t i = 0; i < losses.size(); ++i) {
    await_moment(runs[i], moment, losses[i].rank, rng);
    runs[i].send(losses[i].rank, losses[i].signal);
    if (moment == Moment::evaluation) CHECK(runs[i].logged_steps() == 1);
  }
  for (std::size_t i = 0; i < losses.size(); ++i)
    check_lost(runs[i], losses[i]);
}

void check_stopped(TrainerRun& run, int world) {
  INFO(run.all_lines());
  const auto last = last_steps(run);
  REQUIRE(static_cast<int>(last.size()) == world);
  const std::int64_t step = last.at(0);
  for (const auto& [rank, steps] : last)
    CHECK(steps == step);
  CHECK(run.summary().at("steps") == step);
  CHECK(run.metrics().back().at("step") == step);
  whole_checkpoint(run, step);
  run.await_nothing_left();
}

}  // namespace

TEST_CASE("A rank is killed or stopped in the middle of a step") {
  lose_ranks(Moment::step, {{3, 2, SIGKILL}, {3, 1, SIGSTOP}}, 1);
}

TEST_CASE("The rank that hosts the store is killed or stopped in the middle of a step") {
  lose_ranks(Moment::step, {{2, 0, SIGKILL}, {2, 0, SIGSTOP}}, 2);
}

TEST_CASE("A rank is killed or stopped while it waits for data") {
  lose_ranks(Moment::data_wait, {{2, 1, SIGKILL}, {2, 0, SIGSTOP}}, 3);
}

TEST_CASE("A rank is killed or stopped in an evaluation") {
  lose_ranks(Moment::evaluation, {{2, 1, SIGKILL}, {2, 1, SIGSTOP}}, 4);
}

TEST_CASE("The end of a rank's process is no silence: the others leave long before the timeout") {
  // In parallel, a rank is stopped, and so is silent as well: it is not the lost one.
  const Loss losses[] = {{3, 2, SIGKILL}, {2, 1, SIGKILL}, {3, 2, SIGKILL}};
  const int stopped[] = {-1, -1, 1};
  for (int i = 0; i < 3; ++i) {
    TrainerRun run;
    Arguments arguments = endless(run);
    arguments.back() = "20min";  // --timeout, many times what a test may take
    run.start(losses[i].world, arguments);
    await("steps are logged", [&] { return run.logged_steps() >= 3 || run.ended(0); });
    if (stopped[i] >= 0) run.send(stopped[i], SIGSTOP);
    run.send(losses[i].rank, losses[i].signal);
    if (stopped[i] < 0) {
      check_lost(run, losses[i]);
      CHECK(count_of(run.all_lines(), "is lost: its process ended; it was last ") >= 1);
      CHECK(run.summary().at("steps") >= 3);  // rank 0 has recorded how its life ended
      continue;
    }
    await("rank 2 ends", [&] { return run.ended(2); });
    std::this_thread::sleep_for(milliseconds(500));
    run.send(1, SIGCONT);
    check_lost(run, losses[i]);
    CHECK(count_of(run.all_lines(), "rank 1 is lost") == 0);
  }
}

TEST_CASE("SIGTERM to one rank stops all at the same step, with a checkpoint and code 75") {
  TrainerRun run;
  run.start(3, endless(run));
  Rng rng(8, RandomPurpose::tests);
  await_moment(run, Moment::step, 0, rng);
  run.send(1, SIGTERM);
  CHECK(run.await_end() == std::vector<int>{75, 75, 75});
  check_stopped(run, 3);
}

TEST_CASE("SIGTERM is noticed when a rank's data is stuck") {
  TrainerRun run;
  run.start(2, endless(run));
  Rng rng(9, RandomPurpose::tests);
  await_moment(run, Moment::data_wait, 1, rng);
  run.send(0, SIGTERM);
  run.send(0, SIGTERM);
  CHECK(run.await_end() == std::vector<int>{75, 75});
  check_stopped(run, 2);
}

TEST_CASE("SIGTERM to launch stops all ranks, with code 75") {
  TrainerRun run;
  run.launch(2, endless(run));
  await("steps are logged", [&] { return run.logged_steps() >= 3 || run.ended(0); });
  run.send(0, SIGTERM);
  CHECK(run.await_end() == std::vector<int>{75});
  check_stopped(run, 2);
}

TEST_CASE("A second Ctrl-C leaves at once when the run cannot stop") {
  TrainerRun run;
  Arguments arguments = endless(run);
  arguments.back() = "10min";  // --timeout: the rank that is stopped is not missed
  run.start(2, arguments);
  await("a step is logged", [&] { return run.logged_steps() >= 1 || run.ended(0); });
  run.send(1, SIGSTOP);
  run.send(0, SIGINT);
  run.send(0, SIGINT);  // too soon to count
  std::this_thread::sleep_for(milliseconds(500));
  CHECK_FALSE(run.ended(0));
  const std::string notice =
      "SIGINT: finishing the micro-batch and saving; press again to leave without saving";
  await("the first one is acknowledged",
        [&] { return count_of(run.lines(0), notice) > 0 || run.ended(0); });
  await("rank 0 leaves", [&] {
    run.send(0, SIGINT);
    std::this_thread::sleep_for(milliseconds(100));
    return run.ended(0);
  });
  run.send(1, SIGKILL);
  CHECK(run.await_end() == std::vector<int>{130, -SIGKILL});
  CHECK(count_of(run.all_lines(), notice) == 1);
  run.await_nothing_left();
}

// SIGUSR1, for a process that is not the trainer yet has a handler of SIGTERM, from this program.
TEST_CASE("A stop of one rank before the ranks meet reaches all, with code 75") {
  const ScopedDisposition as_from_a_shell(SIGHUP, SIG_DFL);
  struct Case {
    int waiting;
    int signal;
    std::string name;
  };
  for (const auto& [waiting, signal, name] :
       {Case{0, SIGUSR1, "SIGUSR1"}, Case{1, SIGUSR1, "SIGUSR1"}, Case{1, SIGHUP, "SIGHUP"}}) {
    TrainerRun run;
    Arguments arguments = endless(run);
    arguments.back() = "20min";  // --timeout
    run.start(2, arguments);
    const int missed = 1 - waiting;
    run.send(missed, SIGSTOP);
    await("the other one handles stops",
          [&, rank = waiting] { return run.ended(rank) || run.hears(rank, SIGUSR1); });
    std::this_thread::sleep_for(milliseconds(500));  // to get to its first wait
    run.send(waiting, signal);
    run.send(missed, SIGCONT);
    const std::vector<int> codes = run.await_end();
    INFO(run.all_lines());
    CHECK(codes == std::vector<int>{75, 75});
    const std::string text = name + " before the first step: nothing to save";
    CHECK(count_of(run.lines(waiting), text) >= 1);
    CHECK(count_of(run.lines(missed),
                   "rank " + std::to_string(waiting) + " was stopped: " + text) == 1);
    run.await_nothing_left();
  }
}

// The timeout is many times what a test may take: whoever waited for the rank would fail the test.
TEST_CASE("A rank that fails before the ranks meet ends all with its code and message") {
  for (const int failing : {0, 1, 2}) {
    INFO("rank " << failing);
    TrainerRun run;
    Arguments arguments = endless(run);
    arguments.back() = "20min";  // --timeout
    std::vector<Arguments> each(3, arguments);
    each[static_cast<std::size_t>(failing)].insert(
        each[static_cast<std::size_t>(failing)].end(),
        {"--model", ODB_TESTS_FOLDER "/cases/models/truncated"});
    run.start_each(each);
    const std::vector<int> codes = run.await_end();
    INFO(run.all_lines());
    CHECK(codes == std::vector<int>{4, 4, 4});
    for (int rank = 0; rank < 3; ++rank) {
      CHECK(count_of(run.lines(rank), "models/truncated/model.safetensors: found") >= 1);
      CHECK(count_of(run.lines(rank), "rank " + std::to_string(failing) + " failed: ") ==
            (rank == failing ? 0 : 1));
    }
    run.await_nothing_left();
  }
}

TEST_CASE("A rank that starts long after another has failed learns of it, too") {
  TrainerRun run;
  Arguments arguments = endless(run);
  arguments.back() = "20min";  // --timeout
  std::vector<Arguments> each(3, arguments);
  each[1].insert(each[1].end(), {"--model", ODB_TESTS_FOLDER "/cases/models/truncated"});
  run.start_each(each);
  run.send(2, SIGSTOP);
  await("the rank that fails leaves", [&] { return run.ended(1); });
  // Longer than ranks that have met are waited for.
  std::this_thread::sleep_for(std::chrono::seconds(17));
  CHECK_FALSE(run.ended(0));
  run.send(2, SIGCONT);
  const std::vector<int> codes = run.await_end();
  INFO(run.all_lines());
  CHECK(codes == std::vector<int>{4, 4, 4});
  for (const int rank : {0, 2})
    CHECK(count_of(run.lines(rank), "rank 1 failed: ") == 1);
  run.await_nothing_left();
}

TEST_CASE("Ranks that all fail before they meet each report their own message") {
  TrainerRun run;
  run_to_end(run, 3, {"--data", "none.jsonl", "--timeout", "20min"}, 3);
  for (int rank = 0; rank < 3; ++rank)
    CHECK(count_of(run.lines(rank), "none.jsonl: cannot be opened") >= 1);
  run.await_nothing_left();
}

TEST_CASE("Weights that are not finite are refused before the first step, by tensor") {
  const std::string base = ODB_TESTS_FOLDER "/cases/models/base/";
  RealFileSystem files;
  std::string bytes = files.read_all(base + "model.safetensors");
  for (const TensorInfo& tensor :
       read_safetensors_header(files, base + "model.safetensors").tensors)
    if (tensor.name.find("layers.1.self_attn.k_proj") != std::string::npos) {
      REQUIRE(tensor.type == TensorType::bf16);
      bytes[tensor.begin] = static_cast<char>(0xC0);  // little-endian 0x7FC0
      bytes[tensor.begin + 1] = 0x7F;
    }
  TrainerRun run;
  (void)run.write("model/config.json", files.read_all(base + "config.json"));
  const std::string weights = run.write("model/model.safetensors", bytes);
  run_to_end(run, 2,
             {"--data", run.texts("a.jsonl", 20), "--model",
              weights.substr(0, weights.size() - std::string("/model.safetensors").size())},
             4);
  CHECK(count_of(run.lines(0), "layers.1.self_attn.k_proj.weight: found 1 of") == 1);
  CHECK(run.logged_steps() == 0);
}

TEST_CASE("Shards that are uneven, and ranks without any data, end well") {
  struct Shape {
    int world;
    int rows;
  };
  for (const auto& [world, rows] : {Shape{3, 7}, Shape{3, 2}}) {
    INFO(rows << " rows on " << world << " ranks");
    TrainerRun run;
    run_to_end(run, world,
               {"--data", run.texts("a.jsonl", rows), "--l-max", "32", "--epochs", "2"});
    check_coverage(run, 2, rows);
    CHECK(run.summary().at("samples") == 2 * rows);
    CHECK(run.summary().at("unique_views") == 2 * rows);
    run.await_nothing_left();
  }
}

TEST_CASE("A run whose only step has learning rate 0 says so, before or at its end") {
  TrainerRun known;
  run_to_end(known, 1, {"--data", known.texts("a.jsonl", 20), "--l-max", "64", "--max-steps", "1"});
  CHECK(count_of(known.lines(0), "--max-steps 1 with --warmup 0.03: the first step") == 1);
  CHECK(count_of(known.lines(0), "no weight was changed: the only step had learning rate 0") == 1);

  TrainerRun found;  // an epoch that is one step long
  run_to_end(found, 1, {"--data", found.texts("a.jsonl", 3), "--l-max", "256"});
  CHECK(found.summary().at("steps") == 1);
  CHECK(count_of(found.lines(0), "--max-steps 1") == 0);
  CHECK(count_of(found.lines(0), "no weight was changed: the only step had learning rate 0") == 1);

  TrainerRun learns;
  run_to_end(learns, 1, {"--data", learns.texts("a.jsonl", 3), "--l-max", "256", "--warmup", "0"});
  CHECK(count_of(learns.lines(0), "no weight was changed") == 0);

  TrainerRun still;  // as it was asked
  run_to_end(
      still, 1,
      {"--data", still.texts("a.jsonl", 3), "--l-max", "256", "--max-steps", "1", "--lr", "0"});
  CHECK(count_of(still.lines(0), "learning rate 0") == 0);
}

TEST_CASE("Random weights in place of stored ones are logged, the summary ends as the metrics") {
  TrainerRun run;
  run_to_end(run, 1,
             {"--data", run.texts("a.jsonl", 40), "--l-max", "64", "--max-steps", "6",
              "--log-every", "4", "--init", "random"});
  CHECK(count_of(run.lines(0), "--init random: the weights in --model") == 1);
  const auto metrics = run.metrics();
  REQUIRE(metrics.size() == 2);  // of four steps, and of two
  CHECK(run.summary().at("loss") == metrics.back().at("loss"));
  const double last_loss = metrics.back().at("loss");
  CHECK(count_of(run.lines(0), fmt::format("loss {:.4f}", last_loss)) == 1);

  TrainerRun taken;
  run_to_end(taken, 1, {"--data", taken.texts("a.jsonl", 40), "--max-steps", "1"});
  CHECK(count_of(taken.lines(0), "are not used") == 0);
}

// Rank 0's metrics, or another rank's ledger, may not grow any more: the rank fails by itself,
// between votes, while the others go on into their next collective. The timeout is many times what
// a test may take, so nothing is left to silence.
TEST_CASE("A rank that fails by itself within a step ends all with its code and message") {
  const ScopedDisposition no_end(SIGXFSZ, SIG_IGN);  // instead the write fails
  for (const int failing : {0, 1}) {
    TrainerRun run;
    Arguments arguments = endless(run);
    arguments.back() = "20min";  // --timeout
    arguments.insert(arguments.end(), {"--console", "off"});
    run.start(3, arguments);
    await("steps are logged", [&] { return run.logged_steps() >= 60 || run.ended(0); });
    run.limit_files(failing, 16 << 10);
    const std::vector<int> codes = run.await_end();
    INFO(run.all_lines());
    CHECK(codes == std::vector<int>{4, 4, 4});
    const std::string file = failing == 0 ? "metrics.jsonl" : "ledger/rank-00001.bin";
    for (int rank = 0; rank < 3; ++rank) {
      CHECK(count_of(run.lines(rank), file) == 1);
      CHECK(count_of(run.lines(rank), "lost") == 0);
      CHECK(count_of(run.lines(rank), "rank " + std::to_string(failing) + " failed: ") ==
            (rank == failing ? 0 : 1));
    }
    if (failing == 1) CHECK(run.summary().at("steps") >= 60);  // rank 0 has recorded its end
    run.await_nothing_left();
  }
}

TEST_CASE("A broken record on one rank ends all with code 3 and its line, and nobody is lost") {
  TrainerRun run;
  RealFileSystem files;
  const std::string rows = files.read_all(run.texts("a.jsonl", 60));
  run_to_end(run, 3,
             {"--data", run.write("b.jsonl", rows + "{broken\n" + rows), "--batching", "standard",
              "--batch-size", "2"},
             3);
  INFO(run.all_lines());
  CHECK(count_of(run.all_lines(), "b.jsonl:61: found") >= 1);
  for (int rank = 0; rank < 3; ++rank) {
    const std::string lines = run.lines(rank);
    CHECK(count_of(lines, "b.jsonl:61") + count_of(lines, " ended the run with exit code 3") == 1);
    CHECK(count_of(lines, "lost") == 0);
  }
  run.await_nothing_left();
}

TEST_CASE("A run that diverges ends all ranks with code 6, the step and the views") {
  TrainerRun run;
  Arguments arguments = {"--data",
                         run.texts("a.jsonl", 40),
                         "--l-max",
                         "64",
                         "--optimizer",
                         "sgd",
                         "--lr",
                         "1e30",
                         "--lr-schedule",
                         "constant",
                         "--warmup",
                         "0",
                         "--max-grad-norm",
                         "0"};
  run_to_end(run, 2, arguments, 6);
  INFO(run.all_lines());
  const auto last = last_steps(run);
  const std::int64_t step = last.at(0);
  CHECK(step >= 1);
  CHECK(last.at(1) == step);
  whole_checkpoint(run, step);
  for (int rank = 0; rank < 2; ++rank) {
    const std::string lines = run.lines(rank);
    CHECK_THAT(lines,
               Catch::Contains("step " + std::to_string(step + 1) + ": the gradient's norm is "));
    CHECK_THAT(lines, Catch::Contains("rank " + std::to_string(rank) +
                                      " has losses that are not finite, of views "));
  }
  run.await_nothing_left();

  TrainerRun skipping;
  arguments[1] = skipping.texts("a.jsonl", 40);
  arguments.insert(arguments.end(), {"--on-nan", "skip", "--max-nan-steps", "1000"});
  run_to_end(skipping, 2, arguments);
  check_coverage(skipping, 1, 40);
  const std::int64_t steps = skipping.summary().at("steps");
  CHECK(steps > 3);
  CHECK(count_of(skipping.lines(0), " is skipped: the gradient's norm is ") ==
        static_cast<std::size_t>(steps - step));
  CHECK(skipping.summary().at("skipped_steps") == steps - step);
  CHECK_THAT(skipping.lines(0), Catch::Contains(std::to_string(steps - step) + " of " +
                                                std::to_string(steps) + " steps were skipped"));

  TrainerRun enough;
  arguments[1] = enough.texts("a.jsonl", 40);
  arguments.back() = "2";
  run_to_end(enough, 2, arguments, 6);
  CHECK_THAT(enough.lines(1), Catch::Contains("no finite gradient for 2 steps in a row"));
}
