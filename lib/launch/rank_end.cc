#include "launch/rank_end.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/launch_channel.h"

namespace odb {
namespace {

constexpr int kSaved = static_cast<int>(ExitCode::saved);
constexpr int kPeerLost = static_cast<int>(ExitCode::peer_lost);

bool failed(const RankEnd& end) {
  return end.code != 0 && end.code != kSaved && !end.ours;
}

bool missed_another(const RankEnd& end) {
  return end.code == kPeerLost && end.signal == 0;
}

// Failed by itself, not because another rank did.
bool failed_first_hand(const RankEnd& end) {
  return failed(end) && !missed_another(end) && !end.message.ends_with(kSeeOtherRank);
}

// Whether `end` repeats the message with which `origin` failed.
bool repeats(const RankEnd& end, const RankEnd& origin) {
  return !origin.message.empty() && end.message.size() > origin.message.size() &&
         end.message.find(origin.message) != std::string::npos;
}

std::string describe(const RankEnd& end) {
  const std::string phase = end.phase.empty() ? "" : fmt::format("; it was last {}", end.phase);
  if (end.signal != 0)
    return fmt::format("rank {} was killed by signal {} ({}){}", end.rank, end.signal,
                       ::strsignal(end.signal), phase);
  if (end.message.empty())
    return fmt::format("rank {} ended with exit code {}{}; its own lines may say why", end.rank,
                       end.code, phase);
  return fmt::format("rank {} ended with exit code {}: {}", end.rank, end.code, end.message);
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
  auto cause = std::ranges::find_if(ends, failed_first_hand);
  if (cause == ends.end())
    cause = std::ranges::find_if(
        ends, [](const RankEnd& end) { return failed(end) && !missed_another(end); });
  if (cause == ends.end()) cause = std::ranges::find_if(ends, failed);
  if (cause == ends.end()) return nullptr;
  const auto origin =
      std::ranges::find_if(ends, [&](const RankEnd& end) { return repeats(*cause, end); });
  return origin == ends.end() ? &*cause : &*origin;
}

std::string describe_cause(const std::vector<RankEnd>& ends, int ranks) {
  const RankEnd& cause = *cause_of(ends);
  const bool all_alike =
      ranks > 1 && static_cast<int>(ends.size()) == ranks &&
      std::ranges::all_of(ends, [&](const RankEnd& end) {
        return end.signal == 0 && end.code == cause.code && end.message == cause.message;
      });
  if (!all_alike)
    return describe(cause) +
           (cause.signal == 0 ? "" : fmt::format("; the run ends with exit code {}", cause.code));
  return fmt::format(
      "all {} ranks ended with exit code {}{}", ranks, cause.code,
      cause.message.empty() ? "; their own lines may say why" : ": " + cause.message);
}

std::vector<std::string> describe_other_failures(const std::vector<RankEnd>& ends) {
  std::vector<std::string> others;
  const RankEnd* const cause = cause_of(ends);
  for (const RankEnd& end : ends)
    if (&end != cause && failed_first_hand(end) && (end.signal != 0 || end.code != cause->code) &&
        !repeats(end, *cause))
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
