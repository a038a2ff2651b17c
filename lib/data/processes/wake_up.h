// Sleeping until another process has done something: a count in shared memory that sleepers watch
// through the kernel (a futex).
//
//   waiting side                                 acting side
//     wait_for(done, [&] { return flag == 1; },    flag = 1;
//              [&] { return stopped; });           done.wake();
//
// A wake_up without sleepers is two instructions, no system call. No process owns anything here:
// one that is killed in the middle leaves nothing locked. A waker that dies between its act and
// wake() costs the sleeper a glance at most.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace odb {

// How long a sleeper sleeps before it looks at its conditions again by itself.
inline constexpr std::chrono::milliseconds kGlance{100};

// Lies in shared memory; zeros are its first value.
class WakeUp {
 public:
  // To be read before the condition is looked at: a wake() after that ends wait() at once.
  std::uint32_t count() const { return count_.load(std::memory_order_acquire); }

  // Sleeps until the count is not `seen` any more, `limit` is over, or a signal came. May also
  // return early for no reason: the caller looks at its condition again.
  void wait(std::uint32_t seen, std::chrono::milliseconds limit);

  // What was done before is seen by those who are woken. Any number of sleepers wake.
  void wake();

 private:
  std::atomic<std::uint32_t> count_{0};
  std::atomic<std::uint32_t> sleeping_{0};  // somebody may sleep
};

// Waits until done() holds; then true. False when given_up() holds, which is asked before each
// sleep and so at every glance: it is the place for limits, heartbeats and generation checks.
template <typename Done, typename GivenUp>
bool wait_for(WakeUp& wake_up, Done&& done, GivenUp&& given_up) {
  for (;;) {
    const std::uint32_t seen = wake_up.count();
    if (done()) return true;
    if (given_up()) return false;
    wake_up.wait(seen, kGlance);
  }
}

// Waits `time`. False when given_up() holds, which is asked as by wait_for().
template <typename GivenUp>
bool pause_for(std::chrono::milliseconds time, GivenUp&& given_up) {
  if (time.count() == 0) return true;
  WakeUp nobody;
  const auto end = std::chrono::steady_clock::now() + time;
  return wait_for(nobody, [end] { return std::chrono::steady_clock::now() >= end; }, given_up);
}

}  // namespace odb
