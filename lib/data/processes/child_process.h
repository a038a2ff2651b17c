// A forked process that lives for its parent: it dies when the parent dies, however that happens,
// and leaves the decision on a stop to the trainer.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace odb {

// Exit codes of children, beside those of base/error.h.
inline constexpr int kOutOfMemoryExit = 71;
inline constexpr int kSentSignalExit = 128;  // + the signal, which came from another process

// Forks. The child
//   - is killed (SIGKILL) when the calling thread ends, also if that was before it could ask for it
//   - has the stop signals blocked (base/signals.h), and any other signal let in
//   - ignores what its parent ignores: SIGPIPE in odb-trainer
//   - ends as ever by a fault of its own (SIGSEGV, SIGBUS, ...), but with kSentSignalExit + signal
//     where another process sent the signal: a sample is not blamed for what was done to its worker
//   - shows `role` in its log lines
//   - leaves with what `body` returns, with an Error's code after logging it, or with
//     kOutOfMemoryExit after std::bad_alloc; it runs no destructors of its caller and flushes none
//     of its streams
// Call it while the process has one thread. Answers the child's number. FileError when the system
// refuses to fork.
pid_t fork_child(const std::string& role, const std::function<int()>& body);

// ---- How a child ended.

enum class DeathKind : std::uint8_t {
  crashed,        // by itself: a fault, an abort, an exit nobody asked for
  out_of_memory,  // an allocation failed, or the kernel chose it to free memory
  silent,         // killed by its parent, for it showed no sign of life
  killed          // by another process
};

struct Death {
  DeathKind kind = DeathKind::crashed;
  std::string text;  // "died by SIGSEGV", "was killed for want of memory"
};

// From a status of waitpid; never DeathKind::silent. `memory_kill`: the kernel's count of processes
// killed for want of memory has risen. Pure.
Death judge_death(int wait_status, bool memory_kill);

}  // namespace odb
