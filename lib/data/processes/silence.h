// How long a process has shown no sign of life: a count that it raises with all it does, and with
// every glance of its waits, has stood still.
//
// Only time counts in which the watcher itself was awake, at most a second between two looks. So
// neither a whole job that was stopped for an hour nor a watcher that was kept waiting by a busy
// machine makes a silent process of one that lives.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace odb {

class Silence {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds kMostBetweenLooks{1000};

  // To be called at every glance: for how long `count` has been what it is.
  Clock::duration look(std::int64_t count, Clock::time_point now = Clock::now()) {
    if (last_look_ && count == count_)
      silent_ += std::min<Clock::duration>(now - *last_look_, kMostBetweenLooks);
    else
      silent_ = {};
    count_ = count;
    last_look_ = now;
    return silent_;
  }

  // From now on as if there had been no look: what is silent now has a right to be.
  void forget() { *this = {}; }

 private:
  std::int64_t count_ = 0;
  Clock::duration silent_{};
  std::optional<Clock::time_point> last_look_;
};

}  // namespace odb
