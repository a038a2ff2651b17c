// A stop that comes before the ranks are together: there is nothing to save, and the first step may
// be far away. What takes long until then, or waits for other ranks, looks for it.
#pragma once

#include "base/error.h"
#include "data/records/index_builder.h"

namespace odb {

// "SIGTERM before the first step: nothing to save", with exit code 75.
class StoppedEarly : public Error {
 public:
  using Error::Error;
};

// After a stop has come.
StoppedEarly early_stop();

// StoppedEarly: a stop has come. Never blocks; any thread.
void heed_early_stop();

// `progress`, which may be empty, of a pass that a stop ends by StoppedEarly.
TellProgress heeding_stops(TellProgress progress);

}  // namespace odb
