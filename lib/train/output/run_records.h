// What rank 0 records in the run's folder while it trains, and what it shows on the console:
// metrics, evaluations, lives, summary. (The ledger, on every rank: ledger_recorder.h.)
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "train/output/console.h"
#include "train/output/json_lines.h"
#include "train/output/lives.h"
#include "train/output/metrics.h"
#include "train/output/run_folder.h"
#include "train/step/evaluator.h"
#include "train/step/step_observer.h"

namespace odb {

struct RunRecordsOptions {
  RunPaths paths;
  std::int64_t life = 0;         // number of this process life of the run, equal on all ranks
  RunTotals resumed;             // where this life begins
  bool evaluation_open = false;  // the evaluation of that step runs again
  int world = 1;
  std::int64_t data_size = 0;
  double learning_rate = 0;  // `--lr`
  std::int64_t log_every = 1;
  ConsoleKind console = ConsoleKind::automatic;
  std::chrono::steady_clock::time_point process_start;
  // Bytes of this rank's device; 0: not known.
  std::function<std::int64_t()> peak_memory;
};

class RunRecords final : public StepObserver {
 public:
  // `files` outlives it. The folder is there, and this process holds its lock.
  RunRecords(FileSystem& files, RunRecordsOptions options);
  RunRecords(const RunRecords&) = delete;
  RunRecords& operator=(const RunRecords&) = delete;
  ~RunRecords() override;

  // The loop begins. `evaluation_seconds`: seconds of an evaluation before it, which do not count
  // as startup time.
  void on_start(double evaluation_seconds);
  void end_step(const FinishedStep& step) override;
  void on_measured(const StepMeasure& measure, const Progress& progress) override;
  void end_evaluation(std::span<const EvaluationResult> results, const RunTotals& totals) override;
  // Makes metrics and evaluations durable.
  void begin_save(const RunTotals& totals) override;

  // Records that this life ends with an error of this rank; never throws.
  void fail(const Error& error) noexcept;
  // Records the end of this life; counts the unique views from the ledgers of all ranks, which are
  // synced.
  void finish(const Progress& progress, const PhaseSeconds& seconds, const std::string& reason,
              int exit_code);

 private:
  void show(const StepMeasure& measure, const Progress& progress, bool line);
  void warn_about_untrained(const RunTotals& totals) const;
  std::optional<double> peak_memory() const;  // GB

  FileSystem& files_;
  RunRecordsOptions options_;
  MetricsFile metrics_;
  JsonLinesFile evaluations_;
  LivesFile lives_;
  std::unique_ptr<Console> console_;
  MetricsMeter meter_;  // of the next line
  MetricsMeter all_;    // of the whole run
  ConsoleFigures figures_;
  RunSummary summary_;
  std::optional<Progress> measured_;  // at the last measured step
  double evaluation_seconds_ = 0;
  double highest_rate_ = 0;  // of the steps measured
};

}  // namespace odb
