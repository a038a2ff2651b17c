#include "train/step/dead_run_watch.h"

#include <limits>
#include <vector>

#include "catch.h"

using namespace odb;

namespace {

struct Step {
  double loss = 1;
  double grad_norm = 1;
  bool skipped = false;
  std::int64_t supervised = 10;
};

// What a run of these steps is warned of.
std::vector<std::string> warnings_of(const std::vector<Step>& steps) {
  std::vector<std::string> warnings;
  DeadRunWatch watch([&](const std::string& warning) { warnings.push_back(warning); });
  Progress progress({.data_size = 1000, .views = 1000});
  for (const Step& step : steps) {
    StepMeasure measure;
    measure.count = {.samples = 1, .supervised_tokens = step.supervised, .skipped = step.skipped};
    measure.loss = step.loss;
    measure.grad_norm = step.grad_norm;
    progress.add_step(measure.count);
    watch.on_measured(measure, progress);
  }
  return warnings;
}

std::vector<Step> dead(std::int64_t steps) {
  return std::vector<Step>(static_cast<std::size_t>(steps), Step{.grad_norm = 0});
}

}  // namespace

TEST_CASE("A gradient that stays 0 is warned of once") {
  CHECK(warnings_of(dead(kDeadSteps - 1)).empty());
  const auto warnings = warnings_of(dead(3 * kDeadSteps));
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0],
             Catch::StartsWith("step 20: the gradient's norm has been 0 for 20 steps"));
}

TEST_CASE("Steps in a row count: another gradient, however small, begins anew") {
  std::vector<Step> steps = dead(kDeadSteps - 1);
  steps.push_back({.grad_norm = 1e-30});
  const std::vector<Step> more = dead(kDeadSteps - 1);
  steps.insert(steps.end(), more.begin(), more.end());
  CHECK(warnings_of(steps).empty());
  steps.push_back({.grad_norm = 0});
  CHECK(warnings_of(steps).size() == 1);
}

TEST_CASE("Steps without a supervised token, and skipped ones, are no sign of anything") {
  std::vector<Step> steps;
  for (int i = 0; i < 50; ++i) {
    steps.push_back({.loss = 0, .grad_norm = 0, .supervised = 0});
    steps.push_back(
        {.loss = 1e9, .grad_norm = std::numeric_limits<double>::infinity(), .skipped = true});
  }
  CHECK(warnings_of(steps).empty());
}

TEST_CASE("A loss of ten times the first one is warned of once") {
  CHECK(warnings_of({{.loss = 2}, {.loss = 19.9}}).empty());
  const auto warnings = warnings_of({{.loss = 2}, {.loss = 1}, {.loss = 20}, {.loss = 50}});
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::StartsWith("step 3: the loss is 20, 10 times the 2 of the first"));
  // The first one is that of the first step with a loss; nan is the business of --on-nan.
  CHECK(warnings_of({{.loss = std::numeric_limits<double>::quiet_NaN()},
                     {.loss = 0, .supervised = 0},
                     {.loss = 2},
                     {.loss = 20}})
            .size() == 1);
}

TEST_CASE("Both warnings may come in one run") {
  std::vector<Step> steps = dead(kDeadSteps);
  steps.push_back({.loss = 11, .grad_norm = 0});
  CHECK(warnings_of(steps).size() == 2);
}
