// Faults in whole trainings: whatever dies, hangs or is starved of memory, a run ends either with
// every view once or with an error, never with exit code 0 and a view that came twice or never.
#include "base/permutation.h"
#include "catch.h"
#include "data_faults.h"
#include "held_thread.h"
#include "odd_rows.h"
#include "training_seeds.h"

using namespace odb;

namespace {

constexpr int kRows = 200;
constexpr int kOdd = 100;

enum class Cause { memory, hang };

// Gives the odd row to rank 0.
std::uint64_t seed_of_run(int world) {
  for (std::uint64_t seed = 0;; ++seed) {
    const Permutation order(kRows, seed, 0);
    for (std::int64_t place = 0; place < kRows; place += world)
      if (order(place) == kOdd) return seed;
  }
}

// The trainer has done some steps of the first round, which holds all rows, and has slots of it.
// Collate dies, so the round is formed once more, and now its odd row, which was fine before,
// cannot be made. If a slot still needs it, the run ends and names it; no view comes twice in any
// case.
void check_row_that_turns_bad(int world, Cause cause) {
  TrainerRun run;
  OddRows odd;
  (cause == Cause::memory ? odd.large : odd.slow) = {kOdd};
  const std::vector<std::string> arguments = {"--data",          write_rows(run, kRows, odd),
                                              "--data-workers",  "1",
                                              "--depth",         "2",
                                              "--seed",          std::to_string(seed_of_run(world)),
                                              "--l-max",         "256",
                                              "--cutoff-len",    "64",
                                              "--on-bad-sample", "skip",
                                              "--console",       "off",
                                              "--timeout",       "2s"};
  if (world == 1)
    run.start(1, arguments);
  else
    run.launch(world, arguments);
  std::string done;
  const RankTree tree(run, 0, world, 1);
  DataFaults faults(run, tree, [&](const std::string& text) { done += "  " + text + "\n"; });
  await("steps are logged", [&] { return run.logged_steps() >= 3 || run.ended(0); });
  {
    const HeldThread held(tree.trainer());
    REQUIRE(held.held());
    if (cause == Cause::memory) {
      faults.take_memory(true);  // to the end of the run
    } else {
      faults.kill_collate();
      faults.hang_worker(0, 2);
    }
  }
  const RunVerdict verdict = judge_run(run, {.data_size = kRows, .codes = {3}});
  INFO(world << " ranks\n" << done << verdict.report);
  CHECK(verdict.errors.empty());
  if (verdict.ended_with(3)) {
    CHECK_THAT(run.rank_lines(0),
               Catch::Contains("sample 100 was good when its round was formed") &&
                   Catch::Contains("rows.jsonl:101"));
  } else {
    CHECK(verdict.exact);  // no slot needed the row any more, or it was made in time
  }
  run.await_nothing_left();
}

}  // namespace

TEST_CASE(
    "A row that turns bad when its round is replayed without memory comes once or ends the run") {
  check_row_that_turns_bad(1, Cause::memory);
}

TEST_CASE("A row that hangs when its round is replayed comes once or ends the run") {
  check_row_that_turns_bad(1, Cause::hang);
}

TEST_CASE("A row that hangs on one of two ranks comes once or ends both") {
  check_row_that_turns_bad(2, Cause::memory);
  check_row_that_turns_bad(2, Cause::hang);
}

TEST_CASE("Trainings in which one process is killed or stopped at any moment") {
  check_moments(1, 10);
}

TEST_CASE("Trainings in which one process is killed or stopped at any moment, other seeds") {
  check_moments(11, 10);
}

TEST_CASE("Trainings of one rank under faults") {
  check_seeds(1, 8, 1);
}

TEST_CASE("Trainings of two ranks under faults") {
  check_seeds(9, 7, 2);
}

TEST_CASE("Trainings of three ranks under faults") {
  check_seeds(16, 5, 3);
}
