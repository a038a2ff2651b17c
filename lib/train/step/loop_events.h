// What the training loop reports to its caller and asks of it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "batching/item.h"
#include "train/step/progress.h"
#include "train/step/step_measure.h"

namespace odb {

// What one rank's ledger records of a step.
struct FinishedStep {
  std::int64_t epoch = 0;
  std::int64_t step = 0;  // counted from 1; with an end slot, the last one before it
  std::vector<ViewId> views;
  std::vector<LeftOut> left_out;
};

struct LoopEvents {
  // This rank wants to stop (a signal, the time limit). Asked before each vote.
  std::function<bool()> stop_asked = [] { return false; };
  // Called when a step is finished, before the next can begin.
  std::function<void(const FinishedStep&)> on_finished = [](const FinishedStep&) {};
  // Called when its loss is known: once per step, in order.
  std::function<void(const StepMeasure&, const Progress&)> on_measured = [](const StepMeasure&,
                                                                            const Progress&) {};
  // Called between a step and the next slot, on all ranks alike, so it may be collective
  // (evaluation). False: a rank was asked to stop meanwhile.
  std::function<bool(const Progress&)> between_steps = [](const Progress&) { return true; };
};

struct LoopEnd {
  bool stopped = false;  // a rank asked for it, or `failure`; otherwise a limit was reached
  // What keeps all ranks from continuing, known to all at the same step: this rank's own Error, or
  // OtherRankFailed. Null: nothing.
  std::exception_ptr failure;
};

}  // namespace odb
