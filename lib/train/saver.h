// Saves a run now and then, as an observer of its training: every so many steps, samples, tokens or
// epochs, every so many minutes of rank 0's clock, or when somebody makes the file RUN/save-now.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/files.h"
#include "train/output/run_paths.h"
#include "train/output/saving_options.h"
#include "train/step/step_observer.h"

namespace odb {

class Saver final : public StepObserver {
 public:
  using Clock = std::chrono::steady_clock;

  // `save` writes a checkpoint of now; collective. `start`: the totals where the run begins.
  // `files` outlives it.
  Saver(FileSystem& files, const RunPaths& paths, const SavingOptions& options,
        const RunTotals& start, std::function<void()> save);

  // Whether the time for a save has come, or the file is there, which is looked for once a second.
  // By rank 0, whose wish the next vote carries to all.
  bool asked();

  bool between_steps(const Progress& progress) override;
  // By all ranks, in a vote: rank 0 has asked.
  void agree() { agreed_ = true; }

 private:
  FileSystem& files_;
  std::string asking_file_;
  SavingOptions options_;
  RunTotals before_;  // at the last boundary between steps
  std::function<void()> save_;
  bool agreed_ = false;
  bool found_file_ = false;  // by this rank
  Clock::time_point last_ = Clock::now();
  Clock::time_point next_look_ = Clock::now();
};

}  // namespace odb
