// What the control groups of this process allow it: processor time, memory, processes.
//
// Read as the kernel documents them (admin-guide/cgroup-v1 and cgroup-v2): /proc/self/cgroup gives
// the group in each hierarchy, /proc/self/mountinfo where the hierarchies are mounted. Limits of
// the groups above apply too, so the smallest limit up to the mount counts. Both versions may exist
// at the same time. Batch systems and container engines set these limits.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace odb {

struct CgroupLimits {
  std::optional<double> cpus;  // processors' worth of time; none: not limited
  std::optional<std::uint64_t> memory_bytes;
  // The smallest amount left under any group's limit; file pages that the kernel would drop first
  // do not count as used.
  std::optional<std::uint64_t> memory_left;
  std::optional<std::uint64_t> processes;
};

// The limits of this process, from /proc and /sys in `files`. What cannot be read does not limit.
CgroupLimits read_cgroup_limits(FileSystem& files);

// Pure parts.

// Group path by controller, from /proc/self/cgroup; version 2 has the controller "".
std::map<std::string, std::string> parse_cgroup_membership(std::string_view text);

struct CgroupMount {
  std::string controllers;  // version 1: "cpu,cpuacct" among other words; version 2: ""
  std::string root;         // the group that is seen at `folder`: "/" but in some containers
  std::string folder;
};
std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

// Where a group and those above it are seen below the mount, the group itself first:
// {root "/", folder "/c"}, "/a/b" -> "/c/a/b", "/c/a", "/c". A group outside the mount's root (a
// namespace hides it) is seen at the mount itself.
std::vector<std::string> cgroup_folders(const CgroupMount& mount, const std::string& group);

// "max 100000" -> none, "150000 100000" -> 1.5 (cpu.max of version 2).
std::optional<double> parse_cpu_max(std::string_view text);
// Version 1: cpu.cfs_quota_us (-1: none) and cpu.cfs_period_us.
std::optional<double> parse_cpu_quota(std::string_view quota, std::string_view period);
// The number after `name` in lines of "name number" (memory.stat, /proc/vmstat); none, or 0, when
// the name is missing.
std::optional<std::uint64_t> find_statistic(std::string_view text, std::string_view name);
std::uint64_t parse_statistic(std::string_view text, std::string_view name);
// A limit in bytes or processes; "max", and version 1's huge number, are none.
std::optional<std::uint64_t> parse_cgroup_number(std::string_view text);

}  // namespace odb
