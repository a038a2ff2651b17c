#include "data/loader/processes/memory_kills.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/cgroup.h"

namespace odb {
namespace {

constexpr const char* kWord = "oom_kill";

// Of this process's control group; none: it has no count.
std::optional<std::uint64_t> count_in_group(FileSystem& files) {
  const auto groups = parse_cgroup_membership(read_if_there(files, "/proc/self/cgroup"));
  std::optional<std::uint64_t> kills;
  for (const CgroupMount& mount :
       parse_cgroup_mounts(read_if_there(files, "/proc/self/mountinfo"))) {
    const bool version2 = mount.controllers.empty();
    const auto group = groups.find(version2 ? "" : "memory");
    const bool has_memory = version2 || mount.controllers.find("memory") != std::string::npos;
    if (!has_memory || group == groups.end()) continue;
    const std::string folder = cgroup_folders(mount, group->second).front();
    for (const char* name : {"memory.events", "memory.oom_control"})
      if (const auto count = find_statistic(read_if_there(files, join_path(folder, name)), kWord))
        kills = kills.value_or(0) + *count;
  }
  return kills;
}

}  // namespace

std::uint64_t count_memory_kills(FileSystem& files) {
  if (const auto kills = count_in_group(files)) return *kills;
  return parse_statistic(read_if_there(files, "/proc/vmstat"), kWord);
}

MemoryKills::MemoryKills(FileSystem& files, Clock::time_point now)
    : files_(files), counted_at_(now), newest_(count_memory_kills(files)), explained_(newest_) {}

void MemoryKills::forget_old(Clock::time_point now) {
  if (now - counted_at_ < kFresh) return;
  explained_ = std::max(explained_, newest_);
  newest_ = count_memory_kills(files_);
  counted_at_ = now;
}

bool MemoryKills::explain_death() {
  if (count_memory_kills(files_) <= explained_) return false;
  ++explained_;
  return true;
}

}  // namespace odb
