#include "base/cgroup.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace odb {
namespace {

// Version 1 writes "no limit" as the largest multiple of the page size; no machine has an exbibyte.
constexpr std::uint64_t kNoLimitFrom = std::uint64_t{1} << 60;

template <typename T>
void take_min(std::optional<T>& least, const std::optional<T>& other) {
  if (other && (!least || *other < *least)) least = other;
}

// mountinfo writes blanks, tabs, line ends and backslashes as \ooo.
std::string unescape(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      result.push_back(static_cast<char>((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 |
                                         (text[i + 3] - '0')));
      i += 3;
    } else {
      result.push_back(text[i]);
    }
  }
  return result;
}

// a - b, not below 0.
std::uint64_t less(std::uint64_t a, std::uint64_t b) {
  return a - std::min(a, b);
}

bool has_controller(const CgroupMount& mount, std::string_view controller) {
  const auto names = split(mount.controllers, ',');
  return std::find(names.begin(), names.end(), controller) != names.end();
}

// Reads the limits that one folder shows, under the names of both versions.
class FolderReader {
 public:
  FolderReader(FileSystem& files, std::string folder) : files_(files), folder_(std::move(folder)) {}

  void add_cpus(CgroupLimits& limits) const {
    take_min(limits.cpus, parse_cpu_max(read("cpu.max")));
    take_min(limits.cpus, parse_cpu_quota(read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")));
  }
  void add_memory(CgroupLimits& limits) const {
    add_memory(limits, read("memory.max"), read("memory.current"), "inactive_file");
    add_memory(limits, read("memory.limit_in_bytes"), read("memory.usage_in_bytes"),
               "total_inactive_file");
  }
  void add_processes(CgroupLimits& limits) const {
    take_min(limits.processes, parse_cgroup_number(read("pids.max")));
  }

 private:
  void add_memory(CgroupLimits& limits, const std::string& limit, const std::string& usage,
                  std::string_view droppable) const {
    const std::optional<std::uint64_t> most = parse_cgroup_number(limit);
    if (!most) return;
    const std::uint64_t used = less(parse_cgroup_number(usage).value_or(0),
                                    parse_statistic(read("memory.stat"), droppable));
    take_min(limits.memory_bytes, most);
    take_min(limits.memory_left, std::optional(less(*most, used)));
  }
  std::string read(const char* name) const {
    return read_if_there(files_, join_path(folder_, name));
  }

  FileSystem& files_;
  std::string folder_;
};

}  // namespace

std::map<std::string, std::string> parse_cgroup_membership(std::string_view text) {
  std::map<std::string, std::string> groups;
  for (const std::string_view line : split_lines(text)) {
    // "number:controllers:path"; the path may contain colons.
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    for (const std::string_view controller : split(line.substr(first + 1, second - first - 1), ','))
      groups[std::string(controller)] = line.substr(second + 1);
  }
  return groups;
}

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  for (const std::string_view line : split_lines(mountinfo)) {
    // "id parent device root folder options [optional...] - type source super-options"
    const std::vector<std::string_view> words = split_words(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (dash - words.begin() < 6 || words.end() - dash < 4) continue;
    const std::string_view type = dash[1];
    if (type != "cgroup" && type != "cgroup2") continue;
    mounts.push_back({.controllers = type == "cgroup" ? std::string(dash[3]) : "",
                      .root = unescape(words[3]),
                      .folder = unescape(words[4])});
  }
  return mounts;
}

std::vector<std::string> cgroup_folders(const CgroupMount& mount, const std::string& group) {
  const std::string root = mount.root == "/" ? "" : mount.root;
  std::string below;
  if (group.starts_with(root + "/")) below = group.substr(root.size());
  if (below.find("/..") != std::string::npos || below == "/") below.clear();
  std::vector<std::string> folders;
  for (; !below.empty(); below.resize(below.rfind('/')))
    folders.push_back(mount.folder + below);
  folders.push_back(mount.folder);
  return folders;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  const std::vector<std::string_view> words = split_words(text);
  return words.size() == 2 ? parse_cpu_quota(words[0], words[1]) : std::nullopt;
}

std::optional<double> parse_cpu_quota(std::string_view quota, std::string_view period) {
  const auto quota_us = parse_integer<std::int64_t>(trim(quota));
  const auto period_us = parse_integer<std::int64_t>(trim(period));
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

std::optional<std::uint64_t> parse_cgroup_number(std::string_view text) {
  const auto number = parse_integer<std::uint64_t>(trim(text));
  return number && *number < kNoLimitFrom ? number : std::nullopt;
}

CgroupLimits read_cgroup_limits(FileSystem& files) {
  const auto groups = parse_cgroup_membership(read_if_there(files, "/proc/self/cgroup"));
  CgroupLimits limits;
  for (const CgroupMount& mount :
       parse_cgroup_mounts(read_if_there(files, "/proc/self/mountinfo"))) {
    for (const auto& [controller, group] : groups) {
      if (!has_controller(mount, controller)) continue;
      const bool all = controller.empty();
      for (const std::string& folder : cgroup_folders(mount, group)) {
        const FolderReader reader(files, folder);
        if (all || controller == "cpu") reader.add_cpus(limits);
        if (all || controller == "memory") reader.add_memory(limits);
        if (all || controller == "pids") reader.add_processes(limits);
      }
    }
  }
  return limits;
}

std::optional<std::uint64_t> find_statistic(std::string_view text, std::string_view name) {
  for (const std::string_view line : split_lines(text))
    if (const auto words = split_words(line); words.size() == 2 && words[0] == name)
      return parse_integer<std::uint64_t>(words[1]);
  return std::nullopt;
}

std::uint64_t parse_statistic(std::string_view text, std::string_view name) {
  return find_statistic(text, name).value_or(0);
}

}  // namespace odb
