#include "base/signals.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <iterator>
#include <thread>
#include <vector>

#include "base/error.h"
#include "catch.h"
#include "disposition.h"
#include "temporary_folder.h"

using namespace odb;
using std::chrono::milliseconds;

namespace {

bool is_blocked(int signal_number) {
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal_number) == 1;
}

using Handler = void (*)(int);

Handler disposition(int signal_number) {
  struct sigaction found {};
  REQUIRE(::sigaction(signal_number, nullptr, &found) == 0);
  return found.sa_handler;
}

// Runs `role` in a forked child, which answers by its exit status.
template <typename Role>
int exit_status_of(const Role& role) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(role());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace

TEST_CASE("signals add up to a decision") {
  struct Event {
    int signal_number;
    int at_ms;
  };
  struct Row {
    const char* story;
    std::vector<Event> events;
    StopReason reason;
    bool leave_now;
  };
  const Row rows[] = {
      {"nothing", {}, StopReason::none, false},
      {"a signal of somebody else", {{SIGCHLD, 10}}, StopReason::none, false},
      {"preemption", {{SIGTERM, 10}}, StopReason::terminate, false},
      {"a warning before the time limit", {{SIGUSR1, 10}}, StopReason::user, false},
      {"Ctrl-C", {{SIGINT, 10}}, StopReason::interrupt, false},
      {"a closed terminal", {{SIGHUP, 10}}, StopReason::hangup, false},
      {"a batch system's warning", {{SIGUSR2, 10}}, StopReason::user2, false},
      {"no processor time left", {{SIGXCPU, 10}}, StopReason::cpu_time, false},
      {"SIGHUP from the terminal and from the shell, then SIGTERM",
       {{SIGHUP, 0}, {SIGHUP, 1}, {SIGTERM, 9000}},
       StopReason::hangup,
       false},
      {"SIGTERM again and again",
       {{SIGTERM, 0}, {SIGTERM, 1}, {SIGTERM, 9000}},
       StopReason::terminate,
       false},
      {"SIGUSR1 again and again",
       {{SIGUSR1, 0}, {SIGUSR1, 1}, {SIGUSR1, 9000}},
       StopReason::user,
       false},
      {"a warning, then preemption", {{SIGUSR1, 0}, {SIGTERM, 60000}}, StopReason::user, false},
      {"Ctrl-C forwarded twice", {{SIGINT, 500}, {SIGINT, 501}}, StopReason::interrupt, false},
      {"just too early", {{SIGINT, 500}, {SIGINT, 2499}}, StopReason::interrupt, false},
      {"just late enough", {{SIGINT, 500}, {SIGINT, 2500}}, StopReason::interrupt, true},
      {"a third counts from the first",
       {{SIGINT, 500}, {SIGINT, 2000}, {SIGINT, 2600}},
       StopReason::interrupt,
       true},
      {"at the very start of the clock",
       {{SIGINT, 0}, {SIGINT, 2000}},
       StopReason::interrupt,
       true},
      {"one Ctrl-C does not shorten a preemption's save",
       {{SIGTERM, 0}, {SIGINT, 9000}},
       StopReason::terminate,
       false},
      {"two do", {{SIGTERM, 0}, {SIGINT, 9000}, {SIGINT, 11000}}, StopReason::terminate, true},
      {"SIGTERM after Ctrl-C is no second one",
       {{SIGINT, 0}, {SIGTERM, 5000}},
       StopReason::interrupt,
       false},
  };
  for (const Row& row : rows) {
    INFO(row.story);
    StopState state;
    for (const Event& event : row.events)
      state = after_signal(state, event.signal_number, milliseconds(event.at_ms));
    CHECK(state.reason == row.reason);
    CHECK(state.leave_now == row.leave_now);
    CHECK(state.stop() == (row.reason != StopReason::none));
  }
}

TEST_CASE("a raised signal is found in the flag, with its name") {
  struct Row {
    int signal_number;
    StopReason reason;
    const char* name;
  };
  const Row rows[] = {
      {SIGTERM, StopReason::terminate, "SIGTERM"}, {SIGUSR1, StopReason::user, "SIGUSR1"},
      {SIGINT, StopReason::interrupt, "SIGINT"},   {SIGHUP, StopReason::hangup, "SIGHUP"},
      {SIGUSR2, StopReason::user2, "SIGUSR2"},     {SIGXCPU, StopReason::cpu_time, "SIGXCPU"}};
  CHECK(std::size(rows) == kStopSignals.size());
  const ScopedDisposition as_from_a_shell(SIGHUP, SIG_DFL);
  for (const Row& row : rows) {
    ScopedStopSignals signals;
    CHECK(stop_state() == StopState{});
    errno = ENOSPC;
    REQUIRE(::raise(row.signal_number) == 0);
    CHECK(errno == ENOSPC);
    CHECK(stop_state().reason == row.reason);
    CHECK(name(stop_state().reason) == std::string(row.name));
    CHECK(stop_state().interrupted == (row.signal_number == SIGINT));
  }
}

TEST_CASE("the handlers found before come back, and there is one owner at a time") {
  {
    const ScopedDisposition ignored(SIGUSR1, SIG_IGN);
    {
      ScopedStopSignals signals;
      CHECK_THROWS_AS(ScopedStopSignals(), InternalError);
    }
    CHECK(disposition(SIGUSR1) == SIG_IGN);
  }
  ScopedStopSignals again;
  CHECK_FALSE(stop_state().stop());
}

TEST_CASE("SIGHUP stays ignored where the process was started so, and only that") {
  const ScopedDisposition by_nohup(SIGHUP, SIG_IGN);
  const sigset_t handled = handled_stop_signals();
  for (const int signal_number : kStopSignals)
    CHECK(sigismember(&handled, signal_number) == (signal_number == SIGHUP ? 0 : 1));
  {
    ScopedStopSignals signals;
    ::raise(SIGHUP);
    CHECK_FALSE(stop_state().stop());
    ::raise(SIGTERM);
    CHECK(stop_state().reason == StopReason::terminate);
  }
  CHECK(disposition(SIGHUP) == SIG_IGN);
}

TEST_CASE("a write to a pipe that nobody reads is an error, not the end") {
  const int status = exit_status_of([] {
    ::signal(SIGPIPE, SIG_DFL);
    ignore_write_signals();
    int ends[2];
    if (::pipe(ends) != 0) return 1;
    ::close(ends[0]);
    return ::write(ends[1], "x", 1) < 0 && errno == EPIPE ? 7 : 8;
  });
  CHECK(status == 7);
}

TEST_CASE("a file that exceeds its limit is an error, not the end") {
  const TemporaryFolder folder;
  const int status = exit_status_of([&] {
    ::signal(SIGXFSZ, SIG_DFL);
    ignore_write_signals();
    const rlimit limit{.rlim_cur = 1, .rlim_max = RLIM_INFINITY};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    const int file = ::open((folder / "file").c_str(), O_WRONLY | O_CREAT, 0600);
    if (file < 0 || ::write(file, "x", 1) != 1) return 2;
    return ::write(file, "x", 1) < 0 && errno == EFBIG ? 7 : 8;
  });
  CHECK(status == 7);
}

TEST_CASE("a blocked thread leaves signals to the main thread") {
  ScopedStopSignals signals;
  std::atomic<bool> all_blocked{false};
  std::thread helper;
  {
    ScopedSignalBlock block;
    helper = std::thread([&] { all_blocked = std::ranges::all_of(kStopSignals, is_blocked); });
    CHECK(is_blocked(SIGTERM));
    ::kill(::getpid(), SIGTERM);  // waits: no thread takes it
    CHECK_FALSE(stop_state().stop());
  }
  CHECK_FALSE(is_blocked(SIGTERM));
  CHECK(stop_state().reason == StopReason::terminate);
  helper.join();
  CHECK(all_blocked);
}

TEST_CASE("threads raise and read at the same time and the first reason stays") {
  ScopedStopSignals signals;
  ::raise(SIGUSR1);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 200; ++k) {
        ::raise(SIGTERM);
        ::raise(SIGINT);
        if (stop_state().reason != StopReason::user) ++wrong;
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(wrong == 0);
  CHECK(stop_state().interrupted);
}

TEST_CASE("a forked child keeps the block, its parent does not") {
  const int status = exit_status_of([] {
    {
      ScopedSignalBlock block;
      block.keep();
    }
    for (const int signal_number : kStopSignals)
      ::raise(signal_number);
    return std::ranges::all_of(kStopSignals, is_blocked) ? 7 : 8;
  });
  CHECK(status == 7);
  CHECK_FALSE(is_blocked(SIGTERM));
}

TEST_CASE("without handlers a signal ends the process as it always does") {
  const int status = exit_status_of([] {
    ::signal(SIGTERM, SIG_DFL);  // in place of the test framework's
    { ScopedStopSignals signals; }
    ::raise(SIGTERM);
    return 0;
  });
  CHECK(status == -SIGTERM);
}

TEST_CASE("handlers that are kept keep a late signal from ending the process") {
  const int status = exit_status_of([] {
    ::signal(SIGTERM, SIG_DFL);  // in place of the test framework's
    {
      ScopedStopSignals signals;
      signals.keep();
    }
    ::raise(SIGTERM);
    return 7;
  });
  CHECK(status == 7);
}

TEST_CASE("blocks nest") {
  ScopedSignalBlock outer;
  { ScopedSignalBlock inner; }
  CHECK(is_blocked(SIGINT));
}
