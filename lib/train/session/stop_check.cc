#include "train/session/stop_check.h"

#include <utility>

#include "base/progress_callback.h"
#include "base/signals.h"

namespace odb {

StoppedBeforeTraining stopped_before_training() {
  return {ExitCode::saved,
          fmt::format("{} before the first step: nothing to save", name(stop_state().reason))};
}

void throw_if_stop_requested() {
  if (stop_state().stop()) throw stopped_before_training();
}

ProgressCallback with_stop_checks(ProgressCallback progress) {
  return [progress = std::move(progress)](std::uint64_t done, std::uint64_t total) {
    throw_if_stop_requested();
    if (progress) progress(done, total);
  };
}

}  // namespace odb
