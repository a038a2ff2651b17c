// How far a run is: totals, and the completed share of its length.
//
// All inputs are sums over all ranks, so every rank computes the same result: all ranks see the end
// of the run, of a warm-up or of a period at the same step without asking each other. Only time
// differs between ranks: a time limit becomes a stop request, decided by vote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/amount.h"
#include "train/step/run_length.h"

namespace odb {

// What one optimizer step holds, over all ranks and its micro-steps.
struct StepCount {
  std::int64_t samples = 0;
  std::int64_t tokens = 0;  // real ones
  std::int64_t supervised_tokens = 0;
  std::int64_t left_out = 0;    // rows left out that came with its slots, of all ranks
  std::int64_t idle_slots = 0;  // micro-steps of ranks without data
  bool skipped = false;         // its gradient was not finite and was dropped
  double seconds = 0;
};

// What the run did so far. In a checkpoint (state.json); seconds are of this process life.
struct RunTotals {
  std::int64_t epoch = 0;        // the current one, from 0
  std::int64_t epoch_views = 0;  // its views that are done: trained or left out
  std::int64_t steps = 0;
  std::int64_t samples = 0;  // views trained
  std::int64_t left_out = 0;
  std::int64_t tokens = 0;
  std::int64_t supervised_tokens = 0;
  std::int64_t idle_slots = 0;
  std::int64_t skipped_steps = 0;     // of the steps, those whose gradient was dropped
  std::int64_t skipped_in_a_row = 0;  // of these, the last ones
  double seconds = 0;

  friend bool operator==(const RunTotals&, const RunTotals&) = default;
};

class Progress {
 public:
  explicit Progress(const RunLimits& limits, RunTotals totals = {});

  // A finished step.
  void add_step(const StepCount& step);
  // The end slot: the next epoch begins. Views of the old one that were not drawn (--join off)
  // count as done. `left_out`: rows that came with the end slot, of all ranks.
  void end_epoch(std::int64_t left_out);

  const RunTotals& totals() const { return totals_; }
  const RunLimits& limits() const { return limits_; }

  // 0..1, of the limit nearest its end; 1 only when done() is.
  double share() const;
  // Whether a limit is reached. Checked after each step and each end slot; no step follows.
  bool done() const;
  // "epochs", "max-steps", "max-samples", "max-tokens": the option of the limit reached first;
  // empty while none is.
  std::string reached() const;

  // The totals counted in `unit`: epochs with the fraction of the current one, samples without
  // those left out, tokens, steps, seconds.
  double count(Unit unit) const;

 private:
  RunLimits limits_;
  RunTotals totals_;
};

// The same for any totals.
double count_in(Unit unit, const RunTotals& totals, std::int64_t data_size);

}  // namespace odb
