#include "base/descriptor_limit.h"

#include <sys/resource.h>

#include "base/error.h"

namespace odb {
namespace {

// Data files, libraries, pipes and checkpoint files of a small run.
constexpr std::uint64_t kForOneRank = 64;
// Of each rank to rank 0: rendezvous, heartbeat, training group, two of collate, liveness.
constexpr std::uint64_t kForEachRank = 6;

}  // namespace

std::optional<std::uint64_t> raise_descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  return limit.rlim_cur == RLIM_INFINITY ? std::nullopt : std::optional(limit.rlim_cur);
}

std::uint64_t needed_descriptors(std::int64_t rank, std::int64_t world) {
  return kForOneRank +
         (rank == 0 && world > 1 ? kForEachRank * static_cast<std::uint64_t>(world) : 0);
}

void require_descriptors(std::int64_t rank, std::int64_t world) {
  const std::optional<std::uint64_t> limit = raise_descriptor_limit();
  const std::uint64_t needed = needed_descriptors(rank, world);
  if (!limit || *limit >= needed) return;
  throw UsageError(
      "rank {} of {} may have {} files and connections open, expected at least {}: raise the hard "
      "limit (ulimit -Hn {}; services: LimitNOFILE), or start fewer ranks",
      rank, world, *limit, needed, needed);
}

}  // namespace odb
