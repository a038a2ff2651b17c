// What follows a training: everything that records, shows, checks, evaluates or profiles it is an
// observer. The training loop knows only their list.
//
// All calls come from the thread of the loop, in the order of the list, and the loop waits for
// them. One that throws ends this rank's run.
//
//   begin_step
//     begin_slot  ... forward, vote, backward ...  end_slot      for each slot of the step
//   end_step      ... the next vote completes the step's loss ...
//   on_measured
//   between_steps
//
// An epoch ends with an end slot: end_epoch(), and between_steps() again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "batching/item.h"
#include "train/step/progress.h"
#include "train/step/step_measure.h"

namespace odb {

struct SlotHeader;
struct EvaluationResult;

// What one rank's ledger records of a step.
struct FinishedStep {
  std::int64_t epoch = 0;
  std::int64_t step = 0;  // counted from 1; with an end slot, the last one before it
  std::vector<ViewId> views;
  std::vector<LeftOut> left_out;
};

class StepObserver {
 public:
  virtual ~StepObserver() = default;

  // `step` is counted from 1.
  virtual void begin_step(std::int64_t /*step*/) {}
  // Before the forward pass of a slot and after its backward pass, also on a rank without data.
  virtual void begin_slot(const SlotHeader&) {}
  virtual void end_slot(const SlotHeader&) {}
  // The update is done, or skipped; the next step has not begun.
  virtual void end_step(const FinishedStep&) {}
  // The epoch is over. `rest`: rows that were left out after its last step, if any.
  virtual void end_epoch(const FinishedStep& /*rest*/) {}
  // The loss of the last finished step is known: once per step, in order.
  virtual void on_measured(const StepMeasure&, const Progress&) {}
  // Between a step or an epoch and the next slot, on all ranks alike, so it may be collective.
  // False: a rank was asked to stop, or failed, meanwhile; the loop ends.
  virtual bool between_steps(const Progress&) { return true; }

  // Around an evaluation, on all ranks alike. `results`: over all ranks, one for each file.
  virtual void begin_evaluation(const RunTotals&) {}
  virtual void end_evaluation(std::span<const EvaluationResult> /*results*/, const RunTotals&) {}
  // Around the writing of a checkpoint, on all ranks alike: what it depends on must be durable when
  // begin_save() returns.
  virtual void begin_save(const RunTotals&) {}
  virtual void end_save(const RunTotals&, const std::string& /*path*/) {}
};

// In the order in which they are called; none owned.
using StepObservers = std::vector<StepObserver*>;

}  // namespace odb
