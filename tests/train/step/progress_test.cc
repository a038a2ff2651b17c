#include "train/step/progress.h"

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

StepCount step(std::int64_t samples, std::int64_t tokens, std::int64_t left_out = 0) {
  return {.samples = samples,
          .tokens = tokens,
          .supervised_tokens = tokens / 2,
          .left_out = left_out,
          .idle_slots = 1,
          .seconds = 0.5};
}

}  // namespace

TEST_CASE("A run is one epoch long when no other limit is given") {
  CHECK(run_limits({}, 100).views == 100);
  CHECK(run_limits({.time_limit = std::chrono::hours(1)}, 100).views == 100);
  CHECK(run_limits({.epochs = 2.5}, 101).views == 253);  // 252.5 rounded
  CHECK(run_limits({.epochs = 0.001}, 10).views == 1);
  CHECK_FALSE(run_limits({.max_steps = 5}, 100).views);
  CHECK_FALSE(run_limits({.max_samples = 5}, 100).views);
  CHECK_FALSE(run_limits({.max_tokens = 5}, 100).views);
  const RunLimits both = run_limits({.epochs = 3, .max_steps = 7}, 100);
  CHECK(both.views == 300);
  CHECK(both.steps == 7);
  CHECK_THROWS_AS(run_limits({.epochs = 1e6}, std::int64_t{1} << 40), UsageError);
}

TEST_CASE("The first limit reached ends a run, and progress is that of the limit nearest its end") {
  Progress progress({.data_size = 100, .views = 200, .steps = 10, .samples = {}, .tokens = 1000});
  CHECK(progress.share() == 0);
  progress.add_step(step(10, 300));
  CHECK(progress.share() == Approx(0.3));  // tokens; views 0.05, steps 0.1
  CHECK_FALSE(progress.done());
  progress.add_step(step(30, 0));
  progress.add_step(step(20, 0));
  progress.add_step(step(30, 0));
  CHECK(progress.share() == Approx(0.45));  // views 90 of 200
  CHECK(progress.reached().empty());
  progress.add_step(step(5, 800));
  CHECK(progress.share() == 1);
  CHECK(progress.reached() == "max-tokens");
}

TEST_CASE("Rows left out count as views, so an epoch with bad rows ends, too") {
  Progress progress({.data_size = 10, .views = 20, .steps = {}, .samples = {}, .tokens = {}});
  progress.add_step(step(4, 40, 2));
  progress.add_step(step(3, 30));
  CHECK(progress.count(Unit::epochs) == Approx(0.9));
  progress.end_epoch(1);
  CHECK(progress.count(Unit::epochs) == 1);
  CHECK(progress.totals().samples == 7);
  CHECK(progress.totals().left_out == 3);
  CHECK(progress.share() == 0.5);
  progress.add_step(step(10, 100));
  CHECK(progress.done());
  CHECK(progress.reached() == "epochs");
}

TEST_CASE("An epoch that ends with its first dry rank counts as a whole one") {
  Progress progress({.data_size = 10, .views = 10, .steps = {}, .samples = {}, .tokens = {}});
  progress.add_step(step(8, 80));
  CHECK_FALSE(progress.done());
  progress.end_epoch(0);
  CHECK(progress.done());
}

TEST_CASE("A part of an epoch ends within it") {
  Progress progress(run_limits({.epochs = 1.5}, 10));
  progress.add_step(step(10, 1));
  progress.end_epoch(0);
  progress.add_step(step(4, 1));
  CHECK_FALSE(progress.done());
  progress.add_step(step(1, 1));
  CHECK(progress.done());
}

TEST_CASE("Totals go on from those of a checkpoint") {
  const RunTotals saved{.epoch = 1,
                        .epoch_views = 5,
                        .steps = 7,
                        .samples = 14,
                        .left_out = 1,
                        .tokens = 100,
                        .supervised_tokens = 50,
                        .idle_slots = 3,
                        .skipped_steps = 1,
                        .skipped_in_a_row = 1,
                        .seconds = 0};
  Progress progress({.data_size = 10, .views = 20, .steps = {}, .samples = {}, .tokens = {}},
                    saved);
  CHECK(progress.share() == 0.75);
  StepCount skipped = step(2, 10);
  skipped.skipped = true;
  progress.add_step(skipped);
  CHECK(progress.totals() == RunTotals{.epoch = 1,
                                       .epoch_views = 7,
                                       .steps = 8,
                                       .samples = 16,
                                       .left_out = 1,
                                       .tokens = 110,
                                       .supervised_tokens = 55,
                                       .idle_slots = 4,
                                       .skipped_steps = 2,
                                       .skipped_in_a_row = 2,
                                       .seconds = 0.5});
  CHECK(progress.count(Unit::samples) == 16);
  CHECK(progress.count(Unit::tokens) == 110);
  CHECK(progress.count(Unit::steps) == 8);
  CHECK(progress.count(Unit::seconds) == 0.5);
}

TEST_CASE("More views than an epoch has, and a run without a limit, are faults of the trainer") {
  Progress progress({.data_size = 10, .views = 10, .steps = {}, .samples = {}, .tokens = {}});
  CHECK_THROWS_AS(progress.add_step(step(11, 1)), InternalError);
  CHECK_THROWS_AS(
      Progress({.data_size = 10, .views = {}, .steps = {}, .samples = {}, .tokens = {}}),
      InternalError);
}
