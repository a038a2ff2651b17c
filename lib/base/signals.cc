#include "base/signals.h"

#include <time.h>

#include <atomic>
#include <cerrno>

#include "base/error.h"

namespace odb {
namespace {

using std::chrono::milliseconds;

// A StopState in one word, so that a handler changes it with a single compare-and-set:
// bits 0-3 reason, 4 leave_now, 5 interrupted, 8 and up the milliseconds.
std::uint64_t pack(const StopState& state) {
  return static_cast<std::uint64_t>(state.reason) | std::uint64_t{state.leave_now} << 4 |
         std::uint64_t{state.interrupted} << 5 |
         static_cast<std::uint64_t>(state.first_interrupt.count()) << 8;
}

StopState unpack(std::uint64_t word) {
  return {.reason = static_cast<StopReason>(word & 0xf),
          .leave_now = (word >> 4 & 1) != 0,
          .interrupted = (word >> 5 & 1) != 0,
          .first_interrupt = milliseconds(word >> 8)};
}

std::atomic<std::uint64_t> stop_word{0};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "a handler must not wait for a lock");

std::atomic<bool> handled{false};

// std::chrono promises nothing inside a handler; clock_gettime does.
milliseconds monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return milliseconds(std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000);
}

extern "C" void odb_on_stop_signal(int signal_number) {
  const int saved_errno = errno;
  const milliseconds now = monotonic_now();
  std::uint64_t word = stop_word.load();
  while (!stop_word.compare_exchange_weak(word,
                                          pack(after_signal(unpack(word), signal_number, now)))) {
  }
  errno = saved_errno;
}

bool is_ignored(int signal_number) {
  struct sigaction found {};
  return ::sigaction(signal_number, nullptr, &found) == 0 && found.sa_handler == SIG_IGN;
}

}  // namespace

void ignore_write_signals() {
  for (const int signal_number : {SIGPIPE, SIGXFSZ, SIGTTOU})
    ::signal(signal_number, SIG_IGN);
}

StopReason stop_reason(int signal_number) {
  switch (signal_number) {
    case SIGTERM:
      return StopReason::terminate;
    case SIGUSR1:
      return StopReason::user;
    case SIGINT:
      return StopReason::interrupt;
    case SIGHUP:
      return StopReason::hangup;
    case SIGUSR2:
      return StopReason::user2;
    case SIGXCPU:
      return StopReason::cpu_time;
    default:
      return StopReason::none;
  }
}

const char* name(StopReason reason) {
  switch (reason) {
    case StopReason::none:
      return "none";
    case StopReason::terminate:
      return "SIGTERM";
    case StopReason::user:
      return "SIGUSR1";
    case StopReason::interrupt:
      return "SIGINT";
    case StopReason::hangup:
      return "SIGHUP";
    case StopReason::user2:
      return "SIGUSR2";
    case StopReason::cpu_time:
      return "SIGXCPU";
  }
  return "unknown";
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal_number : kStopSignals)
    sigaddset(&set, signal_number);
  return set;
}

sigset_t handled_stop_signals() {
  sigset_t set = stop_signals();
  if (is_ignored(SIGHUP)) sigdelset(&set, SIGHUP);
  return set;
}

StopState after_signal(const StopState& state, int signal_number, milliseconds now) {
  StopState next = state;
  if (next.reason == StopReason::none) next.reason = stop_reason(signal_number);
  if (signal_number != SIGINT) return next;
  if (!next.interrupted) {
    next.interrupted = true;
    next.first_interrupt = now;
  } else if (now - next.first_interrupt >= kSecondInterruptAfter) {
    next.leave_now = true;
  }
  return next;
}

StopState stop_state() {
  return unpack(stop_word.load());
}

ScopedStopSignals::ScopedStopSignals() {
  ODB_CHECK(!handled.exchange(true), "the stop signals are handled already");
  stop_word = 0;
  const sigset_t ours = handled_stop_signals();
  struct sigaction action {};
  action.sa_handler = odb_on_stop_signal;
  action.sa_mask = stop_signals();
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kStopSignals.size(); ++i) {
    const auto* const change = sigismember(&ours, kStopSignals[i]) == 1 ? &action : nullptr;
    ODB_CHECK(::sigaction(kStopSignals[i], change, &previous_[i]) == 0, "{}", errno_text(errno));
  }
}

ScopedStopSignals::~ScopedStopSignals() {
  if (keep_) return;
  for (std::size_t i = 0; i < kStopSignals.size(); ++i)
    ::sigaction(kStopSignals[i], &previous_[i], nullptr);
  handled = false;
}

ScopedSignalBlock::ScopedSignalBlock() {
  const sigset_t blocked = stop_signals();
  const int result = ::pthread_sigmask(SIG_BLOCK, &blocked, &previous_);
  ODB_CHECK(result == 0, "{}", errno_text(result));
}

ScopedSignalBlock::~ScopedSignalBlock() {
  if (!keep_) ::pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

}  // namespace odb
