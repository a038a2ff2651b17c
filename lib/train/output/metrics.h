// What a run measures: metrics.jsonl, evaluations.jsonl and summary.json. Written by rank 0.
//
// Keys and their order are a stable interface for the tools that read them (docs/run_folder.md). A
// number that is not finite or not known is null.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/output/json_lines.h"
#include "train/step/progress.h"
#include "train/step/step_measure.h"

namespace odb {

// A line of metrics.jsonl: the steps since the previous line.
struct StepMetrics {
  std::int64_t step = 0;
  double epoch = 0;          // finished epochs, with the part of the current one
  std::int64_t samples = 0;  // these three: of the run so far, over all ranks
  std::int64_t tokens = 0;
  std::int64_t supervised_tokens = 0;
  double loss = 0;          // mean over the line's steps, each weighted by its supervised tokens
  double grad_norm = 0;     // of the last step, before clipping
  double lr = 0;            // of the last step
  double step_seconds = 0;  // mean per step
  double data_wait_seconds = 0;  // mean per step: this rank had no slot
  double samples_per_second = 0;
  double tokens_per_second = 0;          // real tokens over all ranks
  double padding_fraction = 0;           // of the computed positions
  double budget_fill = 0;                // mean of positions / L_max over groups
  std::int64_t idle_slots = 0;           // of these steps, over all ranks
  std::optional<double> peak_memory_gb;  // of rank 0's device so far, 10^9 bytes
};

Json to_json(const StepMetrics& metrics);

// Whether a line of these files is of `step` or an earlier one.
bool is_up_to(const Json& line, std::int64_t step);

// Aggregates steps into lines. Pure.
class MetricsMeter {
 public:
  void add(const StepMeasure& step);
  std::int64_t steps() const { return steps_; }
  // The line for the steps since the last call; needs at least one step (checked).
  StepMetrics take(const RunTotals& totals, double epoch);

 private:
  std::int64_t steps_ = 0;
  StepMeasure sum_;
  StepMeasure last_;
  double loss_sum_ = 0;  // weighted by supervised tokens
};

// metrics.jsonl or evaluations.jsonl, open for appending.
class MetricsFile {
 public:
  // Cut to the lines of steps up to `resumed_step`; a new run passes 0.
  MetricsFile(FileSystem& files, const std::string& path, std::int64_t resumed_step);
  void append(const StepMetrics& metrics) { lines_.append(to_json(metrics)); }
  void append(const Json& line) { lines_.append(line); }  // has a "step"
  void sync() { lines_.sync(); }

 private:
  JsonLinesFile lines_;
};

// summary.json: totals of the run, void steps excluded; seconds are of this process life.
struct RunSummary {
  double epoch = 0;
  RunTotals totals;
  // Of this life, for the rates; none: the same as the totals (the run was not resumed).
  std::optional<std::int64_t> life_samples;
  std::optional<std::int64_t> life_tokens;
  std::optional<double> loss;  // of the last line of metrics.jsonl
  PhaseSeconds phases;         // of rank 0
  double padding_fraction = 0;
  double budget_fill = 0;
  std::optional<std::int64_t> unique_views;  // views trained, each counted once
  double first_step_seconds = 0;  // from the start of the process to the end of its first step
  double startup_seconds = 0;  // from the start of the process to the beginning of its first step
  std::optional<double> peak_memory_gb;
  std::int64_t world_size = 1;
};

Json to_json(const RunSummary& summary);
// Replaces the file durably.
void write_summary(FileSystem& files, const std::string& path, const RunSummary& summary);

}  // namespace odb
