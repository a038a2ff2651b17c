// Tells the log about a wait that takes long, and for whom: after 30 seconds, then at twice the
// time again and again.
#pragma once

#include <chrono>

#include "base/log.h"

namespace odb {

class LongWait {
 public:
  // To be called at every glance of a wait. `tell` makes the text: "worker 2 to make sample 17".
  template <typename Tell>
  void look(Tell&& tell) {
    const auto now = std::chrono::steady_clock::now();
    if (now - began_ < next_) return;
    log("data").warn("has waited {} s for {}",
                     std::chrono::duration_cast<std::chrono::seconds>(now - began_).count(),
                     tell());
    next_ *= 2;
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::seconds next_{30};
};

}  // namespace odb
