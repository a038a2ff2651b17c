#include "launch/rank_processes.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/ranges.h>

#include "base/amount.h"
#include "base/error.h"
#include "base/index.h"
#include "base/log.h"
#include "base/signals.h"
#include "launch/rank_log.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kFailTogether{2};
constexpr int kSaved = static_cast<int>(ExitCode::saved);

class Ranks {
 public:
  Ranks(const RankCommand& command, const std::string& log_folder,
        std::chrono::milliseconds patience)
      : patience_(patience), logs_to_files_(!log_folder.empty()) {
    std::vector<Descriptor> logs;  // opened before any rank runs, because one may be refused
    for (int rank = 0; rank < command.ranks; ++rank)
      logs.push_back(log_folder.empty()
                         ? Descriptor()
                         : open_rank_log(log_folder, rank, command.ranks, command.arguments));
    const ListeningSocket store = listen_here();
    for (int rank = 0; rank < command.ranks; ++rank)
      ranks_.push_back(start_rank(rank, command, std::move(at(logs, rank)), store, signals_));
    // Only rank 0 holds the socket now: once rank 0 is dead, nobody must wait there.
  }
  ~Ranks() { kill_rest(); }

  std::vector<RankEnd> await_all() {
    while (any_left()) {
      await_something();
      while (const auto signal = signals_.next())
        pass_on(*signal);
      print_lines();
      reap();
      attend_failure();
    }
    print_lines();
    log_cause();
    for (const std::string& failure : describe_other_failures(ends_))
      log("launch").error("{}", failure);
    return ends_;
  }

 private:
  bool any_left() const;
  void await_something();
  void pass_on(int signal);
  void print_lines();
  void reap();
  void take_end(RankProcess& rank, int status);
  void attend_failure();
  void log_cause();
  void give_up_waiting();
  void kill_rest();

  std::chrono::milliseconds patience_;
  bool logs_to_files_;
  PassedSignals signals_;
  std::vector<RankProcess> ranks_;
  std::vector<RankEnd> ends_;
  std::set<int> passed_on_;
  std::optional<Clock::time_point> failed_at_;  // since then the others must leave
  std::optional<int> reported_;                 // the rank whose end was logged as the cause
  bool killed_ = false;
};

bool Ranks::any_left() const {
  return std::ranges::any_of(ranks_, [](const RankProcess& rank) { return rank.process != 0; });
}

// Waits for lines, a signal, or 50 ms.
void Ranks::await_something() {
  std::vector<pollfd> watched{{.fd = signals_.descriptor(), .events = POLLIN, .revents = 0}};
  for (const RankProcess& rank : ranks_)
    if (rank.lines.descriptor() >= 0)
      watched.push_back({.fd = rank.lines.descriptor(), .events = POLLIN, .revents = 0});
  ::poll(watched.data(), watched.size(), 50);
}

void Ranks::pass_on(int signal) {
  if (logs_to_files_ && passed_on_.empty())
    log("launch").info("{}: passed on to the ranks{}", name(stop_reason(signal)),
                       signal == SIGINT ? "; press again to leave without saving" : "");
  passed_on_.insert(signal);
  for (const RankProcess& rank : ranks_)
    if (rank.process != 0) ::kill(rank.process, signal);
}

void Ranks::print_lines() {
  for (RankProcess& rank : ranks_)
    rank.lines.print();
}

void Ranks::reap() {
  for (RankProcess& rank : ranks_) {
    int status = 0;
    if (rank.process == 0 || ::waitpid(rank.process, &status, WNOHANG) != rank.process) continue;
    rank.process = 0;
    take_end(rank, status);
  }
}

void Ranks::take_end(RankProcess& rank, int status) {
  RankEnd end = classify_end(rank.number, status, passed_on_, killed_);
  end.phase = last_phase(rank);
  end.failure = final_error_of(rank);
  const bool unhandled = end.signal != 0 && end.code == kSaved;
  if (unhandled)
    log("launch").info("rank {} was ended by {} before it could handle it; it had nothing to save",
                       end.rank, ::strsignal(end.signal));
  if (end.code != 0 && (end.code != kSaved || unhandled) && !failed_at_) failed_at_ = Clock::now();
  ends_.push_back(std::move(end));
}

void Ranks::attend_failure() {
  if (!failed_at_ || killed_) return;
  const RankEnd* const cause = cause_of(ends_);
  const bool was_killed = cause != nullptr && cause->signal != 0;
  const auto since = Clock::now() - *failed_at_;
  if (was_killed || since > kFailTogether) log_cause();
  if (any_left() && since > patience_) give_up_waiting();
}

// Called again if a later end turns out to be the cause: a rank that died first may be reaped last.
void Ranks::log_cause() {
  const RankEnd* const cause = cause_of(ends_);
  if (cause == nullptr || reported_ == cause->rank) return;
  reported_ = cause->rank;
  log("launch").error("{}", describe_cause(ends_, static_cast<int>(ranks_.size())));
}

void Ranks::give_up_waiting() {
  std::vector<int> left;
  for (const RankProcess& rank : ranks_)
    if (rank.process != 0) left.push_back(rank.number);
  log("launch").warn("{} {} {} not left within {} of the first failure and will be killed",
                     left.size() == 1 ? "rank" : "ranks", fmt::join(left, ", "),
                     left.size() == 1 ? "has" : "have", print_duration(patience_));
  kill_rest();
}

void Ranks::kill_rest() {
  killed_ = true;
  for (const RankProcess& rank : ranks_)
    if (rank.process != 0) ::kill(-rank.process, SIGKILL);
}

}  // namespace

std::vector<RankEnd> run_rank_processes(const RankCommand& command, const std::string& log_folder,
                                        std::chrono::milliseconds patience) {
  return Ranks(command, log_folder, patience).await_all();
}

}  // namespace odb
