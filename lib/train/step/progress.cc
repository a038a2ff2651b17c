#include "train/step/progress.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "base/error.h"

namespace odb {
namespace {

struct Limit {
  const char* option;
  std::optional<std::int64_t> most;
  std::int64_t done;
};

std::array<Limit, 4> limits_of(const RunLimits& limits, const RunTotals& totals) {
  const std::int64_t views = totals.epoch * limits.data_size + totals.epoch_views;
  return {{{"epochs", limits.views, views},
           {"max-steps", limits.steps, totals.steps},
           {"max-samples", limits.samples, totals.samples},
           {"max-tokens", limits.tokens, totals.tokens}}};
}

}  // namespace

Progress::Progress(const RunLimits& limits, RunTotals totals) : limits_(limits), totals_(totals) {
  ODB_CHECK_GE(limits.data_size, 1);
  ODB_CHECK(limits.views || limits.steps || limits.samples || limits.tokens,
            "a run has no limit; it would never end");
}

void Progress::add_step(const StepCount& step) {
  ++totals_.steps;
  totals_.samples += step.samples;
  totals_.left_out += step.left_out;
  totals_.epoch_views += step.samples + step.left_out;
  totals_.tokens += step.tokens;
  totals_.supervised_tokens += step.supervised_tokens;
  totals_.idle_slots += step.idle_slots;
  totals_.skipped_steps += step.skipped ? 1 : 0;
  totals_.skipped_in_a_row = step.skipped ? totals_.skipped_in_a_row + 1 : 0;
  totals_.seconds += step.seconds;
  ODB_CHECK_LE(totals_.epoch_views, limits_.data_size);
}

void Progress::end_epoch(std::int64_t left_out) {
  totals_.left_out += left_out;
  ++totals_.epoch;
  totals_.epoch_views = 0;
}

double Progress::share() const {
  double share = 0;
  for (const Limit& limit : limits_of(limits_, totals_))
    if (limit.most)
      share = std::max(share, static_cast<double>(limit.done) / static_cast<double>(*limit.most));
  return std::min(share, 1.0);
}

bool Progress::done() const {
  return !reached().empty();
}

std::string Progress::reached() const {
  for (const Limit& limit : limits_of(limits_, totals_))
    if (limit.most && limit.done >= *limit.most) return limit.option;
  return "";
}

double Progress::count(Unit unit) const {
  return count_in(unit, totals_, limits_.data_size);
}

double count_in(Unit unit, const RunTotals& totals, std::int64_t data_size) {
  switch (unit) {
    case Unit::epochs:
      return static_cast<double>(totals.epoch) +
             static_cast<double>(totals.epoch_views) / static_cast<double>(data_size);
    case Unit::samples:
      return static_cast<double>(totals.samples);
    case Unit::tokens:
      return static_cast<double>(totals.tokens);
    case Unit::steps:
      return static_cast<double>(totals.steps);
    case Unit::seconds:
      return totals.seconds;
  }
  std::abort();
}

}  // namespace odb
