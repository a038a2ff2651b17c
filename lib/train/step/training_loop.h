// The loop over slots: vote, forward, backward, and at a step's end the update. The same on every
// rank, in lock step.
//
//   vote on slot k (dist/control.h)   ->  stop?  a rank without its slot: vote again
//   forward of slot k
//   vote on slot k + 1, if it is ready  (in parallel with the backward pass)
//   backward of slot k
//   last of its step: update, finished
//
// The vote after a step's last slot completes its loss over all ranks; then the step is reported.
// The loop knows no files: observers handle what happens (step_observer.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "batching/state.h"
#include "dist/control.h"
#include "train/step/progress.h"
#include "train/step/schedule.h"
#include "train/step/slot_source.h"
#include "train/step/step_observer.h"
#include "train/step/training_step.h"

namespace odb {

struct TrainingLoopOptions {
  LossNorm loss_norm = LossNorm::token;
  std::int64_t l_max = 8192;
  bool join = true;
  bool keeps_budget = true;  // l_max bounds the groups
  int rank = 0;
  int world = 1;
  double learning_rate = 1e-5;  // peak of the schedule
  ScheduleShape schedule;
  OnNan on_nan = OnNan::stop;
  std::int64_t max_nan_steps = 10;
};

struct LoopEnd {
  bool stopped = false;  // a rank asked for it, or `failure`; otherwise a limit was reached
  // What keeps all ranks from continuing, known to all at the same step: this rank's own Error, or
  // OtherRankFailed. Null: nothing.
  std::exception_ptr failure;
};

// Where a loop gets its work from, and who follows it. All must outlive the loop.
struct LoopParts {
  SlotSource& slots;
  ControlChannel& control;
  TrainingStep& step;
  StepObservers observers;
  // Whether this rank wants to stop (a signal, the time limit), or to save. Asked before each vote.
  std::function<bool()> stop_asked = [] { return false; };
  std::function<bool()> save_asked = [] { return false; };
  // A rank has asked to save: called on all ranks, before the next between_steps().
  std::function<void()> on_save_agreed = [] {};
};

class TrainingLoop {
 public:
  // `start` is where the data processes were started.
  TrainingLoop(const TrainingLoopOptions& options, LoopParts parts, Progress progress,
               DataState start);

  // Runs until a limit is reached, a rank asks for a stop, or something fails. Ranks end together,
  // at the same finished step, also if one rank's data fails, which it reports in the next vote, or
  // the run diverges. PeerLostError; errors of observers, which end only this rank.
  LoopEnd run();

  // After the last finished step.
  const Progress& progress() const { return progress_; }
  const DataState& state() const { return state_; }
  const PhaseSeconds& seconds() const { return seconds_; }

 private:
  // What the open step has gathered.
  struct OpenWork {
    SlotTotals totals;
    std::int64_t idle_slots = 0;
    bool skipped = false;
    StepMeasure measure;
    std::vector<ViewId> views;
    std::vector<LeftOut> left_out;
    std::vector<ViewId> suspects;  // of micro-batches whose loss is not finite
    bool begun = false;            // a slot of it was run
    double seconds_before = 0;     // of the run
    double data_wait_before = 0;
  };

  std::optional<LoadedSlot> next_slot();
  std::exception_ptr failure_of(const ControlResult& result) const;
  bool poll(std::chrono::milliseconds limit);
  void vote();
  ControlResult await_vote();
  void run_slot(const LoadedSlot& slot);
  void gather(const LoadedSlot& slot);
  void finish_step(const LoadedSlot& slot);
  void end_epoch(const LoadedSlot& slot);
  void check_finite(const StepUpdate& update, std::int64_t step);
  void report_step(double loss_sum);
  StepCount count_of_step() const;
  // Calls each observer, and counts the seconds. The second stops at the first `false`.
  template <typename... Parameters, typename... Arguments>
  void notify(void (StepObserver::*event)(Parameters...), Arguments&&... arguments);
  bool go_on_between_steps();

  TrainingLoopOptions options_;
  LoopParts parts_;
  Progress progress_;
  DataState state_;

  OpenWork open_;
  bool at_boundary_ = false;                   // between a step, or an epoch, and the next slot
  std::optional<StepMeasure> pending_report_;  // the step whose loss is not known yet
  double loss_sum_ = 0;           // of its slots, or of the open step's, over all ranks
  double own_loss_ = 0;           // of the slot before, for the next vote
  std::int64_t denominator_ = 0;  // of that step
  LoopEnd end_;
  bool warned_over_budget_ = false;
  std::exception_ptr failure_;  // this rank's; others learn of it with the next vote
  PhaseSeconds seconds_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace odb
