#include "train/saver.h"

#include <utility>

#include "train/step/evaluation_schedule.h"
#include "train/step/progress.h"

namespace odb {

Saver::Saver(FileSystem& files, const RunPaths& paths, const SavingOptions& options,
             const RunTotals& start, std::function<void()> save)
    : files_(files),
      asking_file_(paths.save_now()),
      options_(options),
      before_(start),
      save_(std::move(save)) {}

bool Saver::asked() {
  constexpr std::chrono::seconds kBetweenLooks{1};
  const auto now = Clock::now();
  const auto& every = options_.save_every;
  if (every && every->unit == Unit::seconds &&
      std::chrono::duration<double>(now - last_).count() >= every->value)
    return true;
  if (now < next_look_) return false;
  next_look_ = now + kBetweenLooks;
  found_file_ = files_.exists(asking_file_);
  return found_file_;
}

// The end of the run saves by itself.
bool Saver::between_steps(const Progress& progress) {
  const RunTotals before = std::exchange(before_, progress.totals());
  const auto& every = options_.save_every;
  const bool counted = every && every->unit != Unit::seconds &&
                       is_due(every, before, progress.totals(), progress.limits().data_size);
  const bool agreed = std::exchange(agreed_, false);
  if (!(agreed || counted) || progress.done() || progress.totals().steps == 0) return true;
  save_();
  if (std::exchange(found_file_, false)) files_.remove_tree(asking_file_);
  last_ = Clock::now();
  return true;
}

}  // namespace odb
