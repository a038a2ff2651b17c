#include "train/early_stop.h"

#include <utility>

#include "base/signals.h"
#include "base/progress_callback.h"

namespace odb {

StoppedEarly early_stop() {
  return {ExitCode::saved,
          fmt::format("{} before the first step: nothing to save", to_text(stop_state().reason))};
}

void heed_early_stop() {
  if (stop_state().stop()) throw early_stop();
}

ProgressCallback heeding_stops(ProgressCallback progress) {
  return [progress = std::move(progress)](std::uint64_t done, std::uint64_t total) {
    heed_early_stop();
    if (progress) progress(done, total);
  };
}

}  // namespace odb
