// What a run records in its folder while it trains, and what it shows on the console: a ledger on
// every rank; metrics, lives, summary and console on rank 0.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "train/output/console.h"
#include "train/output/ledger_file.h"
#include "train/output/metrics.h"
#include "train/output/run_folder.h"
#include "train/step/evaluator.h"
#include "train/step/loop_events.h"

namespace odb {

struct RunRecordsOptions {
  RunPaths paths;
  std::int64_t life = 0;  // number of this process life of the run, equal on all ranks
  int rank = 0;
  int world = 1;
  std::int64_t data_size = 0;
  double learning_rate = 0;  // `--lr`
  std::int64_t log_every = 1;
  ConsoleKind console = ConsoleKind::automatic;
  std::chrono::steady_clock::time_point process_start;
  // Bytes of this rank's device; 0: not known.
  std::function<std::int64_t()> peak_memory;
};

class RunRecords {
 public:
  // `files` outlives it. The folder is there, and rank 0 holds its lock.
  RunRecords(FileSystem& files, RunRecordsOptions options);
  RunRecords(const RunRecords&) = delete;
  RunRecords& operator=(const RunRecords&) = delete;
  ~RunRecords();

  // The loop begins. `evaluation_seconds`: seconds of an evaluation before it, which do not count
  // as startup time.
  void on_start(double evaluation_seconds);
  void on_finished(const FinishedStep& step);
  void on_measured(const StepMeasure& measure, const Progress& progress);
  void on_evaluated(const std::vector<EvaluationResult>& results, const RunTotals& totals);

  // Makes the ledger durable. Call it before writing a manifest that depends on it.
  void sync();
  // Records that this life ends with an error of this rank; never throws.
  void fail(const Error& error) noexcept;
  // Records the end of this life; rank 0 counts the unique views from all ledgers, which are
  // synced.
  void finish(const Progress& progress, const PhaseSeconds& seconds, const std::string& reason,
              int exit_code);

 private:
  struct Rank0Files;  // what only rank 0 has

  void show(const StepMeasure& measure, const Progress& progress, bool line);
  void warn_about_untrained(const RunTotals& totals) const;
  std::optional<double> peak_memory() const;  // GB

  FileSystem& files_;
  RunRecordsOptions options_;
  LedgerFile ledger_;
  std::unique_ptr<Rank0Files> rank0_files_;
  std::optional<Progress> measured_;  // at the last measured step
  double evaluation_seconds_ = 0;
  double highest_rate_ = 0;  // of the steps measured
};

}  // namespace odb
