#include "data/loader/processes/child_process.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"

namespace odb {
namespace {

constexpr std::array kFaults{SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

// Calls only async-signal-safe functions.
extern "C" void odb_on_fault(int signal_number, siginfo_t* info, void*) {
  const bool sent = info->si_code <= 0;
  if (sent && info->si_pid != ::getpid()) ::_exit(kSentSignalExit + signal_number);
  ::signal(signal_number, SIG_DFL);
  if (sent) ::raise(signal_number);  // else the faulting instruction runs again
}

std::string signal_name(int signal_number) {
  const char* const name = ::sigabbrev_np(signal_number);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal_number);
}

int run_body(const std::function<int()>& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return kOutOfMemoryExit;
  } catch (const Error& error) {
    log("data").error("{}", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    log("data").error("internal error: {}", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}

void handle_faults() {
  struct sigaction action {};
  action.sa_sigaction = odb_on_fault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (const int signal_number : kFaults)
    ::sigaction(signal_number, &action, nullptr);
}

// All signals are blocked during a fork, so that the child never runs a handler of its parent.
sigset_t hold_all_signals() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  return before;
}

void hold_stop_signals() {
  const sigset_t stop = stop_signals();
  ::pthread_sigmask(SIG_SETMASK, &stop, nullptr);
}

}  // namespace

pid_t fork_child(const std::string& role, const std::function<int()>& body,
                 const std::function<bool()>& try_again) {
  const pid_t parent = ::getpid();
  const sigset_t before = hold_all_signals();
  const pid_t child = ::fork();
  const int error_number = errno;
  if (child != 0) ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) {
    if (try_again && try_again()) return fork_child(role, body, try_again);
    throw FileError(
        "cannot fork the process {}: {}; odb-trainer doctor shows the limits on processes", role,
        errno_text(error_number));
  }
  if (child > 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // the parent died before the line above
  handle_faults();
  hold_stop_signals();
  set_log_role(role);
  ::_exit(run_body(body));
}

Death classify_death(int wait_status, bool memory_kill) {
  if (WIFSIGNALED(wait_status)) {
    const int signal_number = WTERMSIG(wait_status);
    if (signal_number == SIGKILL && memory_kill)
      return {.kind = DeathKind::out_of_memory,
              .text = "was killed by the kernel because memory ran out"};
    const bool fault = std::find(kFaults.begin(), kFaults.end(), signal_number) != kFaults.end();
    return {.kind = fault ? DeathKind::crashed : DeathKind::killed,
            .text = fmt::format("died by {}", signal_name(signal_number))};
  }
  const int code = WEXITSTATUS(wait_status);
  if (code == kOutOfMemoryExit)
    return {.kind = DeathKind::out_of_memory, .text = "ran out of memory"};
  if (code > kSentSignalExit)
    return {
        .kind = DeathKind::killed,
        .text = fmt::format("was sent {} by another process", signal_name(code - kSentSignalExit))};
  return {.kind = DeathKind::crashed, .text = fmt::format("exited with code {}", code)};
}

}  // namespace odb
