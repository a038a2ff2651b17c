// How long a process has shown no sign of life: a count that rises with its work, with every poll
// of its waits, or with every heartbeat, has not changed.
//
// Counts only time in which the watcher itself ran: between two polls, at most a limit. So a
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

  LivenessTimer() : LivenessTimer(std::chrono::seconds(1)) {}
  // `max_between_updates`: the most that counts of the time between two polls.
  explicit LivenessTimer(Clock::duration max_between_updates)
      : max_between_updates_(max_between_updates) {}

  // Call at every poll. Returns for how long `count` has not changed.
  Clock::duration update(std::int64_t count, Clock::time_point now = Clock::now()) {
    if (last_update_ && count == count_)
      silent_ += std::min(now - *last_update_, max_between_updates_);
    else
      silent_ = {};
    count_ = count;
    last_update_ = now;
    return silent_;
  }

  // Starts again as if there had been no poll: the process may be silent now.
  void reset() { *this = LivenessTimer(max_between_updates_); }

 private:
  Clock::duration max_between_updates_;
  std::int64_t count_ = 0;
  Clock::duration silent_{};
  std::optional<Clock::time_point> last_update_;
};

}  // namespace odb
