// A stop request that arrives before the ranks have met: there is nothing to save, and the first
// step may be far away. Slow work before it, and waits for other ranks, check for such a request.
#pragma once

#include "base/error.h"
#include "base/progress_callback.h"

namespace odb {

// "SIGTERM before the first step: nothing to save", with exit code 75.
class StoppedBeforeTraining : public Error {
 public:
  using Error::Error;
};

// To be called after a stop was requested.
StoppedBeforeTraining stopped_before_training();

// Throws StoppedBeforeTraining if a stop was requested. Never blocks; any thread.
void throw_if_stop_requested();

// `progress`, which may be empty, that also throws StoppedBeforeTraining if a stop was requested.
ProgressCallback with_stop_checks(ProgressCallback progress);

}  // namespace odb
