// A forked process that dies whenever its parent dies, and that ignores requests to stop: the
// trainer decides on a stop.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace odb {

// Exit codes of children, in addition to those of base/error.h.
inline constexpr int kOutOfMemoryExit = 71;
inline constexpr int kSentSignalExit = 128;  // + the signal, which came from another process

// Forks. The child
//   - is killed (SIGKILL) when the calling thread ends, even if that happens right after the fork
//   - blocks the stop signals (base/signals.h), and no other signal
//   - ignores what its parent ignores: SIGPIPE in odb-trainer
//   - dies by a fault of its own (SIGSEGV, SIGBUS, ...) as usual, but exits with
//     kSentSignalExit + signal where another process sent the signal: its sample is not blamed
//   - shows `role` in its log lines
//   - exits with the result of `body`, with an Error's code after logging it, or with
//     kOutOfMemoryExit after std::bad_alloc; it runs no destructors of its caller and flushes none
//     of its streams
// Call it while the process has one thread. Returns the child's pid. When the system refuses to
// fork, `try_again` decides, and may wait first: limits on processes are often reached for a moment
// only. FileError: it was refused for good.
pid_t fork_child(const std::string& role, const std::function<int()>& body,
                 const std::function<bool()>& try_again = {});

// ---- How a child ended.

enum class DeathKind : std::uint8_t {
  crashed,        // by itself: a fault, an abort, an unexpected exit
  out_of_memory,  // an allocation failed, or the kernel chose it to free memory
  silent,         // killed by its parent, because it showed no sign of life
  killed          // by another process
};

struct Death {
  DeathKind kind = DeathKind::crashed;
  std::string text;  // "died by SIGSEGV", "ran out of memory"
};

// From a status of waitpid; never DeathKind::silent. `memory_kill`: the kernel's count of
// out-of-memory kills has risen. Pure.
Death classify_death(int wait_status, bool memory_kill);

}  // namespace odb
