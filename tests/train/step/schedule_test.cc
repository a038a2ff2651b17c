#include "train/step/schedule.h"

#include <cmath>

#include "catch.h"

using namespace odb;

namespace {

using enum LearningRateSchedule;

RunPart share(double value) {
  return {.share = value, .amount = {}};
}
RunPart amount(double value, Unit unit) {
  return {.share = 0, .amount = Amount{.value = value, .unit = unit}};
}

// A run of 100 steps of 4 samples and 10 tokens each, an epoch being 400 views.
Progress after_steps(std::int64_t steps, const LengthOptions& length = {.max_steps = 100}) {
  Progress progress(run_limits(length, 400));
  for (std::int64_t i = 0; i < steps; ++i)
    progress.add_step({.samples = 4,
                       .tokens = 10,
                       .supervised_tokens = 5,
                       .left_out = 0,
                       .idle_slots = 0,
                       .seconds = 1});
  return progress;
}

double factor(const ScheduleShape& shape, std::int64_t steps) {
  return learning_rate_factor(shape, after_steps(steps));
}

}  // namespace

TEST_CASE("A run whose only step is the first of a warm-up is known to learn nothing") {
  const auto why = [](const OptimizerOptions& options, std::int64_t steps) {
    return why_nothing_is_learned(options, run_limits({.max_steps = steps}, 400));
  };
  CHECK_THAT(why({.warmup = share(0.03)}, 1),
             Catch::Contains("--max-steps 1 with --warmup 0.03: the first step"));
  CHECK_THAT(why({.warmup = amount(5, Unit::steps)}, 1), Catch::Contains("--warmup 5 steps"));
  CHECK(why({.warmup = share(0)}, 1).empty());
  CHECK(why({.warmup = share(1)}, 2).empty());
  CHECK(why({.lr_schedule = LearningRateSchedule::warmup_stable_decay,
             .warmup = share(0.5),
             .min_lr_ratio = 0.1},
            1)
            .empty());
  CHECK(why({.lr = 0, .warmup = share(0.03)}, 1).empty());  // asked for, and no warm-up's fault
  CHECK(why_nothing_is_learned({.warmup = share(0.03)}, run_limits({}, 400)).empty());
}

// With s steps done of S = 100 and W = 10 of warm-up: what the schedules of the same names in
// transformers give, by hand. cos(pi/4) = 0.70711.
TEST_CASE("Schedules at steps of a run of a hundred, with ten of warm-up") {
  struct Row {
    ScheduleShape shape;
    std::vector<std::pair<std::int64_t, double>> factors;
  };
  const RunPart w = share(0.1);
  const std::vector<Row> rows = {
      {{.schedule = constant, .warmup = w}, {{0, 0}, {5, 0.5}, {10, 1}, {55, 1}, {100, 1}}},
      {{.schedule = linear, .warmup = w},
       {{0, 0}, {1, 0.1}, {10, 1}, {55, 0.5}, {91, 0.1}, {100, 0}}},
      {{.schedule = cosine, .warmup = w},
       {{0, 0}, {5, 0.5}, {10, 1}, {40, 0.75}, {55, 0.5}, {70, 0.25}, {100, 0}}},
      {{.schedule = cosine_with_min, .warmup = w, .min_ratio = 0.2},
       {{0, 0}, {5, 0.5}, {10, 1}, {40, 0.8}, {55, 0.6}, {70, 0.4}, {100, 0.2}}},
      {{.schedule = polynomial, .warmup = w, .min_ratio = 0.1, .power = 2},
       {{5, 0.5}, {10, 1}, {55, 0.1 + 0.9 * 0.25}, {100, 0.1}}},
      {{.schedule = inverse_sqrt, .warmup = w}, {{5, 0.5}, {10, 1}, {40, 0.5}, {90, 1.0 / 3}}},
      // Rises from the floor; 20 steps of decay.
      {{.schedule = warmup_stable_decay, .warmup = w, .decay = share(0.2), .min_ratio = 0.1},
       {{0, 0.1},
        {5, 0.55},
        {10, 1},
        {79, 1},
        {80, 1},
        {85, 0.1 + 0.9 * (1 + 0.70711) / 2},
        {90, 0.55},
        {100, 0.1}}},
  };
  for (const Row& row : rows)
    for (const auto& [steps, expected] : row.factors) {
      INFO(name(row.shape.schedule) << " after " << steps);
      CHECK(factor(row.shape, steps) == Approx(expected).margin(1e-5));
    }
}

TEST_CASE("Schedules without a warm-up begin at the top") {
  for (const auto schedule :
       {cosine, constant, linear, cosine_with_min, warmup_stable_decay, inverse_sqrt, polynomial})
    CHECK(factor({.schedule = schedule, .warmup = share(0)}, 0) == 1);
  // inverse-sqrt assumes 10,000 steps of warm-up here.
  CHECK(schedule_factor({.schedule = inverse_sqrt, .warmup = share(0)}, 0.5, 0, 0.1, 30000) ==
        Approx(0.5));
}

TEST_CASE("A warm-up of the whole run, and a decay of all or nothing") {
  CHECK(factor({.schedule = cosine, .warmup = share(1)}, 50) == 0.5);
  CHECK(factor({.schedule = cosine, .warmup = share(1)}, 100) == 0);
  const ScheduleShape all{
      .schedule = warmup_stable_decay, .warmup = share(0), .decay = share(1), .min_ratio = 0};
  CHECK(factor(all, 50) == Approx(0.5));
  const ScheduleShape none{
      .schedule = warmup_stable_decay, .warmup = share(0), .decay = share(0), .min_ratio = 0};
  CHECK(factor(none, 99) == 1);
}

TEST_CASE("Parts given as amounts are the same as the share that they turn out to be") {
  const ScheduleShape by_share{
      .schedule = warmup_stable_decay, .warmup = share(0.1), .decay = share(0.2), .min_ratio = 0.1};
  struct Parts {
    RunPart warmup, decay;
  };
  const std::vector<Parts> same = {
      {amount(10, Unit::steps), amount(20, Unit::steps)},
      {amount(40, Unit::samples), amount(80, Unit::samples)},
      {amount(100, Unit::tokens), amount(200, Unit::tokens)},
      {amount(0.1, Unit::epochs), amount(0.2, Unit::epochs)},
  };
  const std::vector<LengthOptions> lengths = {
      {.max_steps = 100}, {.epochs = 1}, {.max_samples = 400}, {.max_tokens = 1000}};
  for (const Parts& parts : same)
    for (const LengthOptions& length : lengths)
      for (const std::int64_t steps : {0, 3, 10, 11, 50, 79, 81, 95, 100}) {
        ScheduleShape shape = by_share;
        shape.warmup = parts.warmup;
        shape.decay = parts.decay;
        const Progress progress = after_steps(steps, length);
        INFO(print_run_part(parts.warmup) << " after " << steps);
        CHECK(learning_rate_factor(shape, progress) ==
              Approx(learning_rate_factor(by_share, progress)));
      }
}

TEST_CASE("A warm-up longer than the run rises as slowly as it says") {
  const ScheduleShape shape{.schedule = cosine, .warmup = amount(200, Unit::steps)};
  CHECK(factor(shape, 50) == 0.25);
  CHECK(factor(shape, 100) == 0.5);
}

TEST_CASE("A rate is between 0 and 1 and does not jump, whatever the pace of steps") {
  for (const auto schedule :
       {cosine, constant, linear, cosine_with_min, warmup_stable_decay, inverse_sqrt, polynomial}) {
    const ScheduleShape shape{.schedule = schedule,
                              .warmup = amount(30, Unit::steps),
                              .decay = amount(10000, Unit::tokens),
                              .min_ratio = 0.1};
    Progress progress(run_limits({.epochs = 2}, 4000));
    double before = learning_rate_factor(shape, progress);
    while (!progress.done()) {
      const std::int64_t steps = progress.totals().steps;
      const std::int64_t samples = 5 + steps % 4 * 10;  // 5, 15, 25, 35
      if (progress.totals().epoch_views + samples > 4000) {
        progress.end_epoch(4000 - progress.totals().epoch_views);
        continue;
      }
      progress.add_step({.samples = samples,
                         .tokens = 7 * samples,
                         .supervised_tokens = samples,
                         .left_out = 0,
                         .idle_slots = 0,
                         .seconds = 1});
      const double now = learning_rate_factor(shape, progress);
      INFO(name(schedule) << " after " << steps + 1 << " steps: " << before << " -> " << now);
      CHECK(now >= 0);
      CHECK(now <= 1);
      CHECK(std::abs(now - before) < 0.06);
      before = now;
    }
    CHECK(progress.totals().steps > 100);
  }
}

TEST_CASE("Defaults of a schedule follow its name") {
  OptimizerOptions options;
  CHECK(schedule_shape(options).min_ratio == 0);
  CHECK(schedule_shape(options).warmup == share(0.03));
  CHECK(schedule_shape(options).decay == share(0.1));
  options.lr_schedule = cosine_with_min;
  CHECK(schedule_shape(options).min_ratio == 0.1);
  options.min_lr_ratio = 0.3;
  CHECK(schedule_shape(options).min_ratio == 0.3);
}
