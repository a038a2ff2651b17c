#include "train/step/evaluation_schedule.h"

#include <cmath>

#include "catch.h"

using namespace odb;

namespace {

// A run of 2 epochs of 100 views; each step has 25 samples of 10 tokens.
struct Run {
  Progress progress{run_limits({.epochs = 2}, 100)};
  RunTotals before;

  void step() {
    before = progress.totals();
    progress.add_step({.samples = 25,
                       .tokens = 250,
                       .supervised_tokens = 100,
                       .left_out = 0,
                       .idle_slots = 0,
                       .seconds = 1});
  }
  void end_epoch() {
    before = progress.totals();
    progress.end_epoch(0);
  }
};

// The steps after which the run evaluates.
std::vector<std::int64_t> evaluated(const EvaluationOptions& options) {
  Run run;
  std::vector<std::int64_t> steps;
  std::optional<std::int64_t> last;
  const auto look = [&] {
    if (!evaluation_due(options, run.before, run.progress, last)) return;
    last = run.progress.totals().steps;
    steps.push_back(*last);
  };
  for (int i = 1; i <= 8; ++i) {
    run.step();
    look();
    if (i % 4 != 0) continue;
    run.end_epoch();
    look();
  }
  return steps;
}

EvaluationOptions every(std::optional<Amount> period) {
  return {.eval_data = {"a.jsonl"}, .eval_every = period, .eval_at_start = false};
}

}  // namespace

TEST_CASE(
    "A run evaluates when its period is crossed, at epochs' ends without one, and at its end") {
  using Steps = std::vector<std::int64_t>;
  CHECK(evaluated({}).empty());
  CHECK(evaluated(every({})) == Steps{4, 8});
  CHECK(evaluated(every(Amount{.value = 3, .unit = Unit::steps})) == Steps{3, 6, 8});
  CHECK(evaluated(every(Amount{.value = 600, .unit = Unit::tokens})) == Steps{3, 5, 8});
  CHECK(evaluated(every(Amount{.value = 60, .unit = Unit::samples})) == Steps{3, 5, 8});
  CHECK(evaluated(every(Amount{.value = 0.5, .unit = Unit::epochs})) == Steps{2, 4, 6, 8});
  CHECK(evaluated(every(Amount{.value = 100, .unit = Unit::steps})) == Steps{8});
}

TEST_CASE("An epoch that was not drained ends a period of epochs, too") {
  Run run;
  run.step();
  run.end_epoch();
  CHECK(is_due(Amount{.value = 1, .unit = Unit::epochs}, run.before, run.progress.totals(), 100));
  CHECK_FALSE(is_due({}, run.before, run.progress.totals(), 100));
}

TEST_CASE("The best evaluation has the lowest loss, the earliest of equals, and is a number") {
  const BestEvaluation first{.step = 10, .loss = 2};
  CHECK(better({}, first) == first);
  CHECK(better(first, {.step = 20, .loss = 1.5})->step == 20);
  CHECK(better(first, {.step = 20, .loss = 2})->step == 10);
  CHECK(better(first, {.step = 20, .loss = 3})->step == 10);
  CHECK(better(first, {.step = 20, .loss = std::nan("")})->step == 10);
  CHECK_FALSE(better({}, {.step = 20, .loss = INFINITY}));
}
