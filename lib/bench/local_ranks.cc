#include "bench/local_ranks.h"

#include <signal.h>
#include <sys/wait.h>

#include <map>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/signals.h"
#include "data/loader/processes/child_process.h"

namespace odb {

void LocalRendezvous::publish_port(std::uint16_t port) {
  port_.store(port);
  changed_.wake();
}

std::uint16_t LocalRendezvous::await_port() {
  wait_for(changed_, [this] { return port_.load() != 0; }, [] { return false; });
  return static_cast<std::uint16_t>(port_.load());
}

bool LocalRendezvous::await_all(int world, int time, std::chrono::milliseconds limit) {
  const auto begin = std::chrono::steady_clock::now();
  ++arrived_;
  changed_.wake();
  return wait_for(
      changed_, [&] { return arrived_.load() >= world * time; },
      [&] { return std::chrono::steady_clock::now() - begin > limit; });
}

namespace {

// The exit code of a rank that ended in `status`, logged if it is not 0.
int code_of(int rank, int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  log("ranks").error("rank {} {}", rank, classify_death(status, false).text);
  return static_cast<int>(ExitCode::peer_lost);
}

}  // namespace

void throw_if_interrupted() {
  if (stop_state().stop())
    throw Error(ExitCode::interrupted, fmt::format("stopped by {}", name(stop_state().reason)));
}

void run_local_ranks(int world, std::chrono::milliseconds patience,
                     const std::function<int(int rank)>& body) {
  using Clock = std::chrono::steady_clock;
  std::map<pid_t, int> ranks;
  for (int rank = 0; rank < world; ++rank)
    ranks[fork_child(fmt::format("rank {}", rank), [&, rank] { return body(rank); })] = rank;
  const ScopedStopSignals signals;
  std::optional<int> failure;
  bool killed = false;  // by us, so their exit codes mean nothing
  Clock::time_point failed_at;
  while (!ranks.empty()) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (const auto found = ranks.find(ended); found != ranks.end()) {
      const int code = killed ? 0 : code_of(found->second, status);
      if (code != 0 && !failure) {
        failure = code;
        failed_at = Clock::now();
      }
      ranks.erase(found);
      continue;
    }
    const bool stop = stop_state().stop();
    killed = killed || stop || (failure && Clock::now() - failed_at > patience);
    if (killed)
      for (const auto& [process, rank] : ranks)
        ::kill(process, SIGKILL);
    const timespec pause{.tv_sec = 0, .tv_nsec = 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  throw_if_interrupted();
  if (failure) throw Error(static_cast<ExitCode>(*failure), "a rank failed; its own lines say why");
}

}  // namespace odb
