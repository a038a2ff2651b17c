// How long a process has shown no sign of life: a count that it increments with all work and with
// every poll of its waits has not changed.
//
// Counts only time in which the watcher itself ran: at most a second between two polls. So a
// process does not become silent when the whole job was stopped for an hour, or when a busy machine
// delayed the watcher.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace odb {

class LivenessTimer {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds kMaxBetweenUpdates{1000};

  // Call at every poll. Returns for how long `count` has not changed.
  Clock::duration update(std::int64_t count, Clock::time_point now = Clock::now()) {
    if (last_update_ && count == count_)
      silent_ += std::min<Clock::duration>(now - *last_update_, kMaxBetweenUpdates);
    else
      silent_ = {};
    count_ = count;
    last_update_ = now;
    return silent_;
  }

  // Starts again as if there had been no poll: the process may be silent now.
  void reset() { *this = {}; }

 private:
  std::int64_t count_ = 0;
  Clock::duration silent_{};
  std::optional<Clock::time_point> last_update_;
};

}  // namespace odb
