// The signals that launch passes on: read while it has ranks, and never the end of launch itself.
#include "launch/passed_signals.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "catch.h"

using namespace odb;

namespace {

// Runs `role` in a forked child, whose signals are not this process's; its exit status, or -signal.
template <typename Role>
int status_of(const Role& role) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(role());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void let_signals_end_this() {
  for (const int number : kStopSignals)
    ::signal(number, SIG_DFL);  // in place of the test framework's
}

}  // namespace

TEST_CASE("signals are read, and none that comes when the ranks have ended ends launch") {
  CHECK(status_of([] {
          let_signals_end_this();
          {
            const PassedSignals signals;
            ::raise(SIGTERM);
            if (signals.next() != SIGTERM || signals.next()) return 1;
            ::raise(SIGINT);  // nobody reads it any more
          }
          ::raise(SIGTERM);
          return 7;
        }) == 7);
}

TEST_CASE("every stop signal is read, but not SIGHUP where nohup has it ignored") {
  CHECK(status_of([] {
          let_signals_end_this();
          const PassedSignals signals;
          for (const int number : kStopSignals) {
            ::raise(number);
            if (signals.next() != number) return 1;
          }
          return 7;
        }) == 7);
  CHECK(status_of([] {
          let_signals_end_this();
          ::signal(SIGHUP, SIG_IGN);
          const PassedSignals signals;
          ::raise(SIGHUP);
          return signals.next() ? 1 : 7;
        }) == 7);
}

TEST_CASE("a rank gets its signals back") {
  CHECK(status_of([] {
          let_signals_end_this();
          const PassedSignals signals;
          signals.give_back();
          ::raise(SIGTERM);
          return 7;
        }) == -SIGTERM);
}
