// Sleeps until another process acts: a count in shared memory on which sleepers wait (a futex).
//
//   waiting side                                 acting side
//     wait_for(done, [&] { return flag == 1; },    flag = 1;
//              [&] { return stopped; });           done.wake();
//
// A wake() without sleepers is two instructions, no system call. There is no lock: a process that
// is killed in the middle blocks no other. If the waker dies between its act and wake(), the
// sleeper sees the act at its next poll.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/poll_interval.h"

namespace odb {

// Lies in shared memory; starts as zeros.
class WakeUp {
 public:
  // Read it before the condition is checked: a later wake() then ends wait() at once.
  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }

  // Sleeps until the count differs from `seen`, `limit` is over, or a signal came. May also return
  // early without a reason: the caller checks its condition again.
  void wait(std::uint32_t seen, std::chrono::milliseconds limit);

  // Wakes all sleepers. They see everything that was written before.
  void wake();

 private:
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> sleeping_{0};  // a process may sleep
};

// Waits until done() holds; then true. False when given_up() holds, which is polled before each
// sleep: it is the place for limits, heartbeats and generation checks.
template <typename Done, typename GivenUp>
bool wait_for(WakeUp& wake_up, Done&& done, GivenUp&& given_up) {
  for (;;) {
    const std::uint32_t seen = wake_up.count();
    if (done()) return true;
    if (given_up()) return false;
    wake_up.wait(seen, kPollInterval);
  }
}

// Waits for `time`. False when given_up() holds, which is polled as by wait_for().
template <typename GivenUp>
bool pause_for(std::chrono::milliseconds time, GivenUp&& given_up) {
  if (time.count() == 0) return true;
  WakeUp nobody;
  const auto end = std::chrono::steady_clock::now() + time;
  return wait_for(nobody, [end] { return std::chrono::steady_clock::now() >= end; }, given_up);
}

}  // namespace odb
