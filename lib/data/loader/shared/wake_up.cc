#include "data/loader/shared/wake_up.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace odb {
namespace {

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const struct timespec* limit) {
  static_assert(sizeof word == sizeof(std::uint32_t));
  return ::syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

}  // namespace

// The order matters: a sleeper sets `sleeping_` before the kernel compares the count, a waker
// increments the count before it reads `sleeping_`. So either the waker sees the sleeper, or the
// kernel sees the new count and the sleeper does not sleep.
void WakeUp::wait(std::uint32_t seen, std::chrono::milliseconds limit) {
  sleeping_.store(1);
  const struct timespec relative = {.tv_sec = static_cast<time_t>(limit.count() / 1000),
                                    .tv_nsec = static_cast<long>(limit.count() % 1000) * 1'000'000};
  futex(count_, FUTEX_WAIT, seen, &relative);
}

void WakeUp::wake() {
  count_.fetch_add(1);
  if (sleeping_.load() != 0 && sleeping_.exchange(0) != 0)
    futex(count_, FUTEX_WAKE, INT_MAX, nullptr);
}

}  // namespace odb
