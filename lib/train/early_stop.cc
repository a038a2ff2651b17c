#include "train/early_stop.h"

#include <utility>

#include "base/signals.h"

namespace odb {

void heed_early_stop() {
  const StopState state = stop_state();
  if (state.stop())
    throw StoppedEarly(ExitCode::saved, fmt::format("{} before the first step: nothing to save",
                                                    to_text(state.reason)));
}

TellProgress heeding_stops(TellProgress progress) {
  return [progress = std::move(progress)](std::uint64_t done, std::uint64_t total) {
    heed_early_stop();
    if (progress) progress(done, total);
  };
}

}  // namespace odb
