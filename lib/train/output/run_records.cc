#include "train/output/run_records.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/seconds_since.h"

namespace odb {
namespace {

double fraction(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

struct RunRecords::Rank0Files {
  Rank0Files(FileSystem& files, const RunRecordsOptions& options)
      : metrics(files, options.paths.metrics(), 0),
        evaluations(files, options.paths.evaluations()),
        lives(files, options.paths.lives()),
        console(make_console(options.console)) {
    lives.begin(this_life(options.life, options.world, 0));
  }

  MetricsFile metrics;
  JsonLinesFile evaluations;
  LivesFile lives;
  std::unique_ptr<Console> console;
  MetricsMeter meter;  // of the next line
  MetricsMeter all;    // of the whole run
  ConsoleFigures figures;
  RunSummary summary;
};

RunRecords::RunRecords(FileSystem& files, RunRecordsOptions options)
    : files_(files),
      options_(std::move(options)),
      ledger_(files, options_.paths.ledger(options_.rank)) {
  if (options_.rank != 0) return;
  rank0_files_ = std::make_unique<Rank0Files>(files, options_);
  ledger_.append(LifeMarker{.life = options_.life, .world = options_.world, .resumed_step = 0});
}

RunRecords::~RunRecords() = default;

void RunRecords::on_start(double evaluation_seconds) {
  evaluation_seconds_ = evaluation_seconds;
  if (rank0_files_)
    rank0_files_->summary.startup_seconds =
        seconds_since(options_.process_start) - evaluation_seconds_;
}

void RunRecords::on_finished(const FinishedStep& step) {
  if (rank0_files_ && rank0_files_->summary.first_step_seconds == 0 && step.step > 0)
    rank0_files_->summary.first_step_seconds =
        seconds_since(options_.process_start) - evaluation_seconds_;
  ledger_.append(StepRecord{.life = options_.life,
                            .epoch = step.epoch,
                            .step = step.step,
                            .trained = step.views,
                            .left_out = step.left_out});
}

void RunRecords::on_measured(const StepMeasure& measure, const Progress& progress) {
  if (!rank0_files_) return;
  measured_ = progress;
  highest_rate_ = std::max(highest_rate_, measure.lr);
  rank0_files_->meter.add(measure);
  rank0_files_->all.add(measure);
  const std::int64_t step = progress.totals().steps;
  const bool line = step % options_.log_every == 0 || progress.done();
  rank0_files_->figures.loss = measure.loss;
  if (line) {
    StepMetrics metrics = rank0_files_->meter.take(progress.totals(), progress.count(Unit::epochs));
    metrics.peak_memory_gb = peak_memory();
    rank0_files_->metrics.append(metrics);
    rank0_files_->summary.loss = metrics.loss;
    rank0_files_->figures.loss = metrics.loss;
    rank0_files_->figures.tokens_per_second = metrics.tokens_per_second;
    rank0_files_->figures.padding_fraction = metrics.padding_fraction;
    rank0_files_->figures.data_wait_fraction =
        fraction(metrics.data_wait_seconds, metrics.step_seconds);
  }
  show(measure, progress, line);
}

void RunRecords::show(const StepMeasure& measure, const Progress& progress, bool line) {
  ConsoleFigures& figures = rank0_files_->figures;
  figures.share = progress.share();
  figures.step = progress.totals().steps;
  figures.epoch = progress.count(Unit::epochs);
  figures.lr = measure.lr;
  figures.seconds_left = seconds_left(figures.share, 0, progress.totals().seconds);
  rank0_files_->console->show(figures, line);
}

std::optional<double> RunRecords::peak_memory() const {
  const std::int64_t bytes = options_.peak_memory ? options_.peak_memory() : 0;
  if (bytes == 0) return std::nullopt;
  return static_cast<double>(bytes) / 1e9;
}

void RunRecords::on_evaluated(const std::vector<EvaluationResult>& results,
                              const RunTotals& totals) {
  if (!rank0_files_) return;
  for (const EvaluationResult& result : results) {
    rank0_files_->evaluations.append({{"step", totals.steps},
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

void RunRecords::sync() {
  ledger_.sync();
  if (!rank0_files_) return;
  rank0_files_->metrics.sync();
  rank0_files_->evaluations.sync();
}

void RunRecords::fail(const Error& error) noexcept {
  if (!rank0_files_) return;
  try {
    if (measured_)
      finish(*measured_, {}, error.what(), static_cast<int>(error.code()));
    else
      rank0_files_->lives.end(options_.life, 0, error.what(), static_cast<int>(error.code()));
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
  if (!rank0_files_) return;
  if (exit_code == 0) warn_about_untrained(progress.totals());
  RunSummary& summary = rank0_files_->summary;
  summary.epoch = progress.count(Unit::epochs);
  summary.totals = progress.totals();
  summary.phases = seconds;
  if (rank0_files_->all.steps() > 0) {
    const StepMetrics all = rank0_files_->all.take(progress.totals(), summary.epoch);
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
  rank0_files_->lives.end(options_.life, progress.totals().steps, reason, exit_code);
}

}  // namespace odb
