#include "data/processes/memory_kills.h"

#include <string>

#include "base/cgroup.h"

namespace odb {

std::uint64_t parse_memory_kills(std::string_view text) {
  return parse_statistic(text, "oom_kill");
}

std::uint64_t count_memory_kills(FileSystem& files) {
  const auto groups = parse_cgroup_membership(read_if_there(files, "/proc/self/cgroup"));
  std::uint64_t kills = parse_memory_kills(read_if_there(files, "/proc/vmstat"));
  for (const CgroupMount& mount :
       parse_cgroup_mounts(read_if_there(files, "/proc/self/mountinfo"))) {
    const bool version2 = mount.controllers.empty();
    const auto group = groups.find(version2 ? "" : "memory");
    const bool has_memory = version2 || mount.controllers.find("memory") != std::string::npos;
    if (!has_memory || group == groups.end()) continue;
    const std::string folder = cgroup_folders(mount, group->second).front();
    for (const char* name : {"memory.events", "memory.oom_control"})
      kills += parse_memory_kills(read_if_there(files, join_path(folder, name)));
  }
  return kills;
}

}  // namespace odb
