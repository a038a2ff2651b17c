// The stop flag: SIGTERM, SIGUSR1 and SIGINT ask a run to save and end.
//
// The handlers do nothing but change one atomic word, by a pure function; loops and threads look at
// it with stop_state(). Schedulers and launchers send a signal twice, or to a process and its
// group, so a repeated SIGTERM or SIGUSR1 changes nothing, and a second SIGINT means "leave now"
// only two seconds after the first. Who finds `leave_now` ends the process with
// ExitCode::interrupted.
//
// Only the trainer decides on a stop: helper threads are started, and child processes forked, under
// a ScopedSignalBlock. The word is process-wide, one of the two globals of the project.
#pragma once

#include <signal.h>

#include <array>
#include <chrono>
#include <cstdint>

namespace odb {

enum class StopReason : std::uint8_t {
  none,
  terminate,  // SIGTERM: preemption, the end of the job's time
  user,       // SIGUSR1: a warning that the scheduler was asked for
  interrupt   // SIGINT: Ctrl-C
};

// "SIGTERM", "SIGUSR1", "SIGINT"; "none".
const char* to_text(StopReason reason);

struct StopState {
  StopReason reason = StopReason::none;  // of the first signal
  bool leave_now = false;                // a second SIGINT, late enough: do not even save
  bool interrupted = false;              // a SIGINT came, and when:
  std::chrono::milliseconds first_interrupt{0};

  bool stop() const { return reason != StopReason::none; }
  friend bool operator==(const StopState&, const StopState&) = default;
};

inline constexpr std::chrono::milliseconds kSecondInterruptAfter{2000};

// The state after `signal_number` arrives at `now`, counted from any fixed start before it. Other
// signals change nothing. Pure; safe in a handler.
StopState after_signal(const StopState& state, int signal_number, std::chrono::milliseconds now);

// What has arrived in this process. Never blocks; any thread, also a signal handler.
StopState stop_state();

// Handles the three signals while it lives: starts from an empty state, and gives back the handlers
// found before, unless it is kept. Interrupted system calls of other code are restarted
// (SA_RESTART). One at a time in a process. Throws InternalError when the system refuses.
class ScopedStopSignals {
 public:
  ScopedStopSignals();
  ScopedStopSignals(const ScopedStopSignals&) = delete;
  ScopedStopSignals& operator=(const ScopedStopSignals&) = delete;
  ~ScopedStopSignals();

  // Handles them to the end of the process: one that has done its work and is about to end shall
  // not be killed by a signal that comes late, with another exit code than its own.
  void keep() { keep_ = true; }

 private:
  std::array<struct sigaction, 3> previous_;
  bool keep_ = false;
};

// Blocks the three signals in this thread while it lives. Threads started and processes forked
// meanwhile inherit the mask and keep it; a signal to the process then goes to another thread, or
// waits. A forked child calls keep(), so that leaving the scope does not let signals in. The mask
// outlives exec: a child that becomes another program must not be forked under a block.
class ScopedSignalBlock {
 public:
  ScopedSignalBlock();
  ScopedSignalBlock(const ScopedSignalBlock&) = delete;
  ScopedSignalBlock& operator=(const ScopedSignalBlock&) = delete;
  ~ScopedSignalBlock();

  void keep() { keep_ = true; }

 private:
  sigset_t previous_;
  bool keep_ = false;
};

}  // namespace odb
