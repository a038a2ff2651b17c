#include "train/output/run_records.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/seconds_since.h"
#include "train/output/ledger_file.h"

namespace odb {
namespace {

double fraction(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

RunRecords::RunRecords(FileSystem& files, RunRecordsOptions options)
    : files_(files),
      options_(std::move(options)),
      metrics_(files, options_.paths.metrics(), options_.resumed.steps),
      evaluations_(files, options_.paths.evaluations(),
                   [step = options_.resumed.steps - (options_.evaluation_open ? 1 : 0)](
                       const Json& line) { return is_up_to(line, step); }),
      lives_(files, options_.paths.lives()),
      console_(make_console(options_.console)) {
  lives_.begin(this_life(options_.life, options_.world, options_.resumed.steps));
}

RunRecords::~RunRecords() = default;

void RunRecords::on_start(double evaluation_seconds) {
  evaluation_seconds_ = evaluation_seconds;
  summary_.startup_seconds = seconds_since(options_.process_start) - evaluation_seconds_;
}

void RunRecords::end_step(const FinishedStep&) {
  if (summary_.first_step_seconds == 0)
    summary_.first_step_seconds = seconds_since(options_.process_start) - evaluation_seconds_;
}

void RunRecords::on_measured(const StepMeasure& measure, const Progress& progress) {
  measured_ = progress;
  highest_rate_ = std::max(highest_rate_, measure.lr);
  meter_.add(measure);
  all_.add(measure);
  const std::int64_t step = progress.totals().steps;
  const bool line = step % options_.log_every == 0 || progress.done();
  figures_.loss = measure.loss;
  if (line) {
    StepMetrics metrics = meter_.take(progress.totals(), progress.count(Unit::epochs));
    metrics.peak_memory_gb = peak_memory();
    metrics_.append(metrics);
    summary_.loss = metrics.loss;
    figures_.loss = metrics.loss;
    figures_.tokens_per_second = metrics.tokens_per_second;
    figures_.padding_fraction = metrics.padding_fraction;
    figures_.data_wait_fraction = fraction(metrics.data_wait_seconds, metrics.step_seconds);
  }
  show(measure, progress, line);
}

void RunRecords::show(const StepMeasure& measure, const Progress& progress, bool line) {
  ConsoleFigures& figures = figures_;
  figures.share = progress.share();
  figures.step = progress.totals().steps;
  figures.epoch = progress.count(Unit::epochs);
  figures.lr = measure.lr;
  const double share_before = Progress(progress.limits(), options_.resumed).share();
  figures.seconds_left = seconds_left(figures.share, share_before, progress.totals().seconds);
  console_->show(figures, line);
}

std::optional<double> RunRecords::peak_memory() const {
  const std::int64_t bytes = options_.peak_memory ? options_.peak_memory() : 0;
  if (bytes == 0) return std::nullopt;
  return static_cast<double>(bytes) / 1e9;
}

void RunRecords::end_evaluation(std::span<const EvaluationResult> results,
                                const RunTotals& totals) {
  for (const EvaluationResult& result : results) {
    evaluations_.append({{"step", totals.steps},
                         {"data", result.data},
                         {"loss", result.loss},
                         {"perplexity", result.perplexity},
                         {"supervised_tokens", result.supervised_tokens},
                         {"samples", result.samples}});
    log("evaluation")
        .info("step {}: {}: loss {:.4f}, perplexity {:.3f} ({} samples, {} tokens)", totals.steps,
              result.data, result.loss, result.perplexity, result.samples,
              result.supervised_tokens);
  }
}

void RunRecords::begin_save(const RunTotals&) {
  metrics_.sync();
  evaluations_.sync();
}

void RunRecords::fail(const Error& error) noexcept {
  try {
    if (measured_)
      finish(*measured_, {}, error.what(), static_cast<int>(error.code()));
    else
      lives_.end(options_.life, 0, error.what(), static_cast<int>(error.code()));
  } catch (const std::exception& problem) {
    log("files").warn("the end of this run is not recorded: {}", problem.what());
  }
}

// Warns about what the totals of a successful run would hide.
void RunRecords::warn_about_untrained(const RunTotals& totals) const {
  if (totals.skipped_steps > 0)
    log("train").warn("{} of {} steps were skipped: their gradients were not finite",
                      totals.skipped_steps, totals.steps);
  if (totals.steps > 0 && options_.learning_rate > 0 && highest_rate_ == 0)
    log("train").warn(
        "no weight was changed: {} had learning rate 0, at which a warm-up begins; give "
        "--warmup 0 or a run of more steps",
        totals.steps == 1 ? "the only step" : fmt::format("all {} steps", totals.steps));
}

void RunRecords::finish(const Progress& progress, const PhaseSeconds& seconds,
                        const std::string& reason, int exit_code) {
  if (exit_code == 0) warn_about_untrained(progress.totals());
  RunSummary& summary = summary_;
  summary.epoch = progress.count(Unit::epochs);
  summary.totals = progress.totals();
  summary.life_samples = summary.totals.samples - options_.resumed.samples;
  summary.life_tokens = summary.totals.tokens - options_.resumed.tokens;
  summary.phases = seconds;
  if (all_.steps() > 0) {
    const StepMetrics all = all_.take(progress.totals(), summary.epoch);
    summary.padding_fraction = all.padding_fraction;
    summary.budget_fill = all.budget_fill;
  }
  std::int64_t unique = 0;
  for (const auto& [epoch, found] :
       ledger_coverage(files_, options_.paths.ledgers(), options_.data_size))
    unique += found.trained - found.repeated;
  summary.unique_views = unique;
  summary.peak_memory_gb = peak_memory();
  summary.world_size = options_.world;

  write_summary(files_, options_.paths.summary(), summary);
  lives_.end(options_.life, progress.totals().steps, reason, exit_code);
}

}  // namespace odb
