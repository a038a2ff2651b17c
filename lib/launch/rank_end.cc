#include "launch/rank_end.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>

#include <fmt/format.h>

namespace odb {
namespace {

constexpr int kSaved = static_cast<int>(ExitCode::saved);
constexpr int kPeerLost = static_cast<int>(ExitCode::peer_lost);

bool failed(const RankEnd& end) {
  return end.code != 0 && end.code != kSaved && !end.ours;
}

// Why it ended. One that reported nothing can only be judged by its exit code.
FailureCause cause_of_end(const RankEnd& end) {
  if (end.signal != 0) return FailureCause::own;
  if (end.failure) return end.failure->cause;
  return usual_cause(static_cast<ExitCode>(end.code));
}

std::string message_of(const RankEnd& end) {
  return end.failure ? end.failure->message : "";
}

std::string describe(const RankEnd& end) {
  const std::string phase = end.phase.empty() ? "" : fmt::format("; it was last {}", end.phase);
  if (end.signal != 0)
    return fmt::format("rank {} was killed by signal {} ({}){}", end.rank, end.signal,
                       ::strsignal(end.signal), phase);
  if (!end.failure)
    return fmt::format("rank {} ended with exit code {}{}; its own lines may say why", end.rank,
                       end.code, phase);
  return fmt::format("rank {} ended with exit code {}: {}", end.rank, end.code, message_of(end));
}

}  // namespace

RankEnd classify_end(int rank, int status, const std::set<int>& passed_on, bool killed) {
  if (!WIFSIGNALED(status)) return {.rank = rank, .code = WEXITSTATUS(status)};
  const int signal = WTERMSIG(status);
  return {.rank = rank,
          .code = passed_on.contains(signal) ? kSaved : kPeerLost,
          .signal = signal,
          .ours = killed && signal == SIGKILL};
}

const RankEnd* cause_of(const std::vector<RankEnd>& ends) {
  for (const FailureCause cause :
       {FailureCause::own, FailureCause::other_rank, FailureCause::lost_rank})
    for (const RankEnd& end : ends)
      if (failed(end) && cause_of_end(end) == cause) return &end;
  return nullptr;
}

std::string describe_cause(const std::vector<RankEnd>& ends, int ranks) {
  const RankEnd& cause = *cause_of(ends);
  const bool all_alike =
      ranks > 1 && static_cast<int>(ends.size()) == ranks &&
      std::ranges::all_of(ends, [&](const RankEnd& end) {
        return end.signal == 0 && end.code == cause.code && message_of(end) == message_of(cause);
      });
  if (!all_alike)
    return describe(cause) +
           (cause.signal == 0 ? "" : fmt::format("; the run ends with exit code {}", cause.code));
  return fmt::format("all {} ranks ended with exit code {}{}", ranks, cause.code,
                     cause.failure ? ": " + message_of(cause) : "; their own lines may say why");
}

std::vector<std::string> describe_other_failures(const std::vector<RankEnd>& ends) {
  std::vector<std::string> others;
  const RankEnd* const cause = cause_of(ends);
  for (const RankEnd& end : ends)
    if (&end != cause && failed(end) && cause_of_end(end) == FailureCause::own &&
        (end.signal != 0 || end.code != cause->code))
      others.push_back(describe(end));
  return others;
}

int launch_code(const std::vector<RankEnd>& ends) {
  if (const RankEnd* const cause = cause_of(ends)) return cause->code;
  const auto saved = std::ranges::count(ends, kSaved, &RankEnd::code);
  const auto left = std::ranges::count(ends, false, &RankEnd::ours);
  if (saved == 0) return 0;
  // Ranks decide together. If only some have saved, that is a fault.
  return saved == left ? kSaved : static_cast<int>(ExitCode::internal);
}

}  // namespace odb
