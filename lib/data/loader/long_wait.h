// Logs a long wait and what it waits for: after 30 seconds, then each time the time has doubled.
#pragma once

#include <chrono>

#include "base/log.h"

namespace odb {

class LongWait {
 public:
  // Call at every poll of a wait. `describe` returns the text: "worker 2 to prepare a sample".
  template <typename Describe>
  void check(Describe&& describe) {
    const auto now = std::chrono::steady_clock::now();
    if (now - began_ < next_) return;
    log("data").warn("has waited {} s for {}",
                     std::chrono::duration_cast<std::chrono::seconds>(now - began_).count(),
                     describe());
    next_ *= 2;
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::seconds next_{30};
};

}  // namespace odb
