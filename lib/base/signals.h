// The stop flag: SIGTERM, SIGINT, SIGHUP and the warnings of batch systems (SIGUSR1, SIGUSR2,
// SIGXCPU) ask a run to save and end.
//
// The handlers do nothing but change one atomic word, by a pure function; loops and threads look at
// it with stop_state(). Schedulers and launchers send a signal twice, or to a process and its
// group, so a repeated signal changes nothing, but for SIGINT: a second one means "leave now", two
// seconds or more after the first. Who finds `leave_now` ends the process with
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

// Ignores the signals that would end or stop a process because of a write that an error reports, or
// that can simply go on. To be called first in main: threads, forked children and other programs
// started by exec inherit it.
//
//   SIGPIPE   nobody reads a pipe or socket any more: the write fails with EPIPE
//   SIGXFSZ   a file would exceed `ulimit -f`: the write fails with EFBIG
//   SIGTTOU   a background process of a terminal with `stty tostop` writes: it is written. (Ranks
//   that
//             `launch` starts are such processes.)
void ignore_write_signals();

enum class StopReason : std::uint8_t {
  none,
  terminate,  // SIGTERM: preemption, the end of the job's time
  user,       // SIGUSR1: a warning that the scheduler was asked for
  interrupt,  // SIGINT: Ctrl-C
  hangup,     // SIGHUP: the terminal was closed, or its connection was lost
  user2,      // SIGUSR2: a warning of LSF and Grid Engine before they kill a job
  cpu_time    // SIGXCPU: the limit of processor time (ulimit -t, batch systems)
};

inline constexpr std::array kStopSignals{SIGTERM, SIGUSR1, SIGINT, SIGHUP, SIGUSR2, SIGXCPU};

// none: it is not a stop signal.
StopReason stop_reason(int signal_number);

// "SIGTERM", ...; "none".
const char* name(StopReason reason);

// All of kStopSignals.
sigset_t stop_signals();
// The same without SIGHUP where this process ignores that: `nohup` has it outlive its terminal.
sigset_t handled_stop_signals();

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

// Handles handled_stop_signals() while it lives: starts from an empty state, and gives back the
// handlers found before, unless it is kept. Interrupted system calls of other code are restarted
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
  std::array<struct sigaction, kStopSignals.size()> previous_;
  bool keep_ = false;
};

// Blocks the stop signals in this thread while it lives. Threads started and processes forked
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
