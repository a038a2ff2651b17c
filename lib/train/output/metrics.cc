#include "train/output/metrics.h"

#include <cmath>

#include "base/error.h"

namespace odb {
namespace {

// JSON has no NaN and no infinity.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

std::int64_t step_of(const Json& line) {
  const auto found = line.find("step");
  return found != line.end() && found->is_number_integer() ? found->get<std::int64_t>()
                                                           : kLargestAmount;
}

}  // namespace

bool is_up_to(const Json& line, std::int64_t step) {
  return step_of(line) <= step;
}

Json to_json(const StepMetrics& metrics) {
  return {{"step", metrics.step},
          {"epoch", number(metrics.epoch)},
          {"samples", metrics.samples},
          {"tokens", metrics.tokens},
          {"supervised_tokens", metrics.supervised_tokens},
          {"loss", number(metrics.loss)},
          {"grad_norm", number(metrics.grad_norm)},
          {"lr", number(metrics.lr)},
          {"step_seconds", number(metrics.step_seconds)},
          {"data_wait_seconds", number(metrics.data_wait_seconds)},
          {"samples_per_second", number(metrics.samples_per_second)},
          {"tokens_per_second", number(metrics.tokens_per_second)},
          {"padding_fraction", number(metrics.padding_fraction)},
          {"budget_fill", number(metrics.budget_fill)},
          {"idle_slots", metrics.idle_slots},
          {"peak_memory_gb", number(metrics.peak_memory_gb)}};
}

void MetricsMeter::add(const StepMeasure& step) {
  ++steps_;
  last_ = step;
  loss_sum_ += step.count.supervised_tokens == 0
                   ? 0
                   : step.loss * static_cast<double>(step.count.supervised_tokens);
  sum_.count.samples += step.count.samples;
  sum_.count.tokens += step.count.tokens;
  sum_.count.supervised_tokens += step.count.supervised_tokens;
  sum_.count.idle_slots += step.count.idle_slots;
  sum_.count.seconds += step.count.seconds;
  sum_.data_wait_seconds += step.data_wait_seconds;
  sum_.padded_tokens += step.padded_tokens;
  sum_.real_tokens += step.real_tokens;
  sum_.fill_sum += step.fill_sum;
  sum_.groups += step.groups;
}

StepMetrics MetricsMeter::take(const RunTotals& totals, double epoch) {
  ODB_CHECK_GT(steps_, 0);
  const auto steps = static_cast<double>(steps_);
  const StepCount& count = sum_.count;
  const StepMetrics metrics{
      .step = totals.steps,
      .epoch = epoch,
      .samples = totals.samples,
      .tokens = totals.tokens,
      .supervised_tokens = totals.supervised_tokens,
      .loss = count.supervised_tokens == 0
                  ? std::nan("")
                  : loss_sum_ / static_cast<double>(count.supervised_tokens),
      .grad_norm = last_.grad_norm,
      .lr = last_.lr,
      .step_seconds = count.seconds / steps,
      .data_wait_seconds = sum_.data_wait_seconds / steps,
      .samples_per_second = ratio(static_cast<double>(count.samples), count.seconds),
      .tokens_per_second = ratio(static_cast<double>(count.tokens), count.seconds),
      .padding_fraction = ratio(static_cast<double>(sum_.padded_tokens - sum_.real_tokens),
                                static_cast<double>(sum_.padded_tokens)),
      .budget_fill = ratio(sum_.fill_sum, static_cast<double>(sum_.groups)),
      .idle_slots = count.idle_slots,
      .peak_memory_gb = last_.peak_memory_gb};
  *this = {};
  return metrics;
}

MetricsFile::MetricsFile(FileSystem& files, const std::string& path, std::int64_t resumed_step)
    : lines_(files, path, [=](const Json& line) { return is_up_to(line, resumed_step); }) {}

namespace {

Json phases_json(const PhaseSeconds& phases) {
  return {{"forward", number(phases.forward)}, {"backward", number(phases.backward)},
          {"update", number(phases.update)},   {"data_wait", number(phases.data_wait)},
          {"control", number(phases.control)}, {"events", number(phases.events)},
          {"other", number(phases.other())}};
}

}  // namespace

Json to_json(const RunSummary& summary) {
  const RunTotals& totals = summary.totals;
  const auto rate = [&](std::int64_t count) {
    return ratio(static_cast<double>(count), totals.seconds);
  };
  return {{"steps", totals.steps},
          {"epoch", number(summary.epoch)},
          {"samples", totals.samples},
          {"tokens", totals.tokens},
          {"supervised_tokens", totals.supervised_tokens},
          {"loss", number(summary.loss)},
          {"seconds", number(totals.seconds)},
          {"data_wait_seconds", number(summary.phases.data_wait)},
          {"samples_per_second", number(rate(summary.life_samples.value_or(totals.samples)))},
          {"tokens_per_second", number(rate(summary.life_tokens.value_or(totals.tokens)))},
          {"padding_fraction", number(summary.padding_fraction)},
          {"budget_fill", number(summary.budget_fill)},
          {"idle_slots", totals.idle_slots},
          {"skipped_steps", totals.skipped_steps},
          {"peak_memory_gb", number(summary.peak_memory_gb)},
          {"emitted_views", totals.samples},
          {"unique_views", summary.unique_views ? Json(*summary.unique_views) : Json(nullptr)},
          {"left_out_views", totals.left_out},
          {"first_step_seconds", number(summary.first_step_seconds)},
          {"startup_seconds", number(summary.startup_seconds)},
          {"world_size", summary.world_size},
          {"phase_seconds", phases_json(summary.phases)}};
}

void write_summary(FileSystem& files, const std::string& path, const RunSummary& summary) {
  files.write_durably(path, to_json(summary).dump(2) + "\n");
}

}  // namespace odb
