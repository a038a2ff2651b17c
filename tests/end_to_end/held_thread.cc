#include "held_thread.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <chrono>
#include <thread>

namespace odb {
namespace {

// Whether the process is in a stop that is not reported yet; a process that has ended is left for
// its parent to collect, and becomes 0.
bool has_stopped(pid_t& process) {
  siginfo_t seen = {};
  const int found = ::waitid(P_PID, static_cast<id_t>(process), &seen,
                             WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL);
  const bool ended =
      seen.si_code == CLD_EXITED || seen.si_code == CLD_KILLED || seen.si_code == CLD_DUMPED;
  if (found != 0 || (seen.si_pid == process && ended)) process = 0;
  return process != 0 && seen.si_pid == process;
}

}  // namespace

HeldThread::HeldThread(pid_t process) : process_(process) {
  if (::ptrace(PTRACE_SEIZE, process_, nullptr, nullptr) != 0 ||
      ::ptrace(PTRACE_INTERRUPT, process_, nullptr, nullptr) != 0) {
    process_ = 0;
    return;
  }
  while (process_ != 0 && !has_stopped(process_))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (process_ == 0) return;
  int status = 0;
  ::waitpid(process_, &status, WNOHANG | __WALL);
  const bool on_request = status >> 16 == PTRACE_EVENT_STOP;
  if (!on_request) signal_ = WSTOPSIG(status);
}

HeldThread::~HeldThread() {
  if (process_ != 0) ::ptrace(PTRACE_DETACH, process_, nullptr, signal_);
}

}  // namespace odb
