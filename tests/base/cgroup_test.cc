#include "base/cgroup.h"

#include "catch.h"
#include "faulty_file_system.h"

using namespace odb;
using Folders = std::vector<std::string>;

namespace {

// A file of /proc or /sys in the memory file system.
void put(FileSystem& files, const std::string& path, std::string_view text) {
  files.make_folders(parent_folder(path));
  files.write_durably(path, text);
}

constexpr const char* kVersion2Mounts =
    "23 28 0:21 / /proc rw,nosuid shared:11 - proc proc rw\n"
    "29 22 0:26 / /sys/fs/cgroup rw,nosuid,nodev shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

}  // namespace

TEST_CASE("the groups of a process are read by controller") {
  using Groups = std::map<std::string, std::string>;
  CHECK(parse_cgroup_membership("0::/system.slice/slurmstepd.scope/job_7\n") ==
        Groups{{"", "/system.slice/slurmstepd.scope/job_7"}});
  CHECK(parse_cgroup_membership("9:name=systemd:/\n4:cpu,cpuacct:/slurm/job_7\n3:memory:/a:b\n") ==
        Groups{{"name=systemd", "/"},
               {"cpu", "/slurm/job_7"},
               {"cpuacct", "/slurm/job_7"},
               {"memory", "/a:b"}});
  CHECK(parse_cgroup_membership("").empty());
  CHECK(parse_cgroup_membership("nonsense\n4:half\n").empty());
}

TEST_CASE("mounts of both versions are found among the others") {
  const auto mounts = parse_cgroup_mounts(
      "22 28 0:20 / /sys rw shared:7 - sysfs sysfs rw\n"
      "35 31 0:32 /docker/ab\\040c /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw shared:9 master:1 - cgroup2 none rw\n"
      "36 31 0:33\n");
  REQUIRE(mounts.size() == 2);
  CHECK(mounts[0].controllers == "rw,memory");
  CHECK(mounts[0].root == "/docker/ab c");
  CHECK(mounts[0].folder == "/sys/fs/cgroup/memory");
  CHECK(mounts[1].controllers.empty());
  CHECK(mounts[1].root == "/");
  CHECK(mounts[1].folder == "/sys/fs/cgroup/unified");
}

TEST_CASE("a group is looked for below its mount, then upwards") {
  struct Row {
    const char* root;
    const char* group;
    Folders folders;
  };
  const Row rows[] = {
      {"/", "/a/b", {"/c/a/b", "/c/a", "/c"}},
      {"/", "/", {"/c"}},
      {"/docker/x", "/docker/x", {"/c"}},
      {"/docker/x", "/docker/x/y", {"/c/y", "/c"}},
      {"/docker/x", "/docker/xy", {"/c"}},
      {"/docker/x", "/elsewhere", {"/c"}},
      {"/", "/../other", {"/c"}},
  };
  for (const Row& row : rows) {
    INFO(row.root << " " << row.group);
    CHECK(cgroup_folders({.controllers = "", .root = row.root, .folder = "/c"}, row.group) ==
          row.folders);
  }
}

TEST_CASE("limits are read in the formats of both versions") {
  CHECK(parse_cpu_max("150000 100000\n") == 1.5);
  CHECK_FALSE(parse_cpu_max("max 100000\n"));
  CHECK_FALSE(parse_cpu_max("100000"));
  CHECK_FALSE(parse_cpu_max(""));
  CHECK(parse_cpu_quota("400000\n", "100000\n") == 4.0);
  CHECK_FALSE(parse_cpu_quota("-1\n", "100000\n"));
  CHECK_FALSE(parse_cpu_quota("100000", "0"));
  CHECK(parse_cgroup_number("2147483648\n") == std::uint64_t{1} << 31);
  CHECK_FALSE(parse_cgroup_number("max\n"));
  CHECK_FALSE(parse_cgroup_number("9223372036854771712\n"));
  CHECK_FALSE(parse_cgroup_number(""));
}

TEST_CASE("version 2: the smallest limit up to the mount counts") {
  FaultyFileSystem files;
  put(files, "/proc/self/cgroup", "0::/job_7/step_0\n");
  put(files, "/proc/self/mountinfo", kVersion2Mounts);
  put(files, "/sys/fs/cgroup/job_7/step_0/cpu.max", "max 100000\n");
  put(files, "/sys/fs/cgroup/job_7/step_0/memory.max", "8589934592\n");
  put(files, "/sys/fs/cgroup/job_7/cpu.max", "200000 100000\n");
  put(files, "/sys/fs/cgroup/job_7/memory.max", "4294967296\n");
  put(files, "/sys/fs/cgroup/job_7/step_0/memory.current", "7516192768\n");  // 7 GiB of 8
  put(files, "/sys/fs/cgroup/job_7/step_0/memory.stat", "file 5\ninactive_file 3221225472\n");
  put(files, "/sys/fs/cgroup/job_7/memory.current", "1073741824\n");
  put(files, "/sys/fs/cgroup/job_7/pids.max", "512\n");
  put(files, "/sys/fs/cgroup/job_8/memory.max", "1\n");
  const CgroupLimits limits = read_cgroup_limits(files);
  CHECK(limits.cpus == 2.0);
  CHECK(limits.memory_bytes == std::uint64_t{4} << 30);
  CHECK(limits.memory_left == std::uint64_t{3} << 30);  // the step's would be 4 GiB
  CHECK(limits.processes == 512);
}

TEST_CASE("version 1: each controller has its own hierarchy") {
  FaultyFileSystem files;
  put(files, "/proc/self/cgroup",
      "8:pids:/\n4:memory:/slurm/job_7\n1:cpu,cpuacct:/slurm/job_7\n0::/\n");
  put(files, "/proc/self/mountinfo",
      "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
      "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  put(files, "/sys/fs/cgroup/cpu/slurm/job_7/cpu.cfs_quota_us", "50000\n");
  put(files, "/sys/fs/cgroup/cpu/slurm/job_7/cpu.cfs_period_us", "100000\n");
  put(files, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put(files, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put(files, "/sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "9223372036854771712\n");
  put(files, "/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "1073741824\n");
  put(files, "/sys/fs/cgroup/memory/slurm/memory.usage_in_bytes", "805306368\n");
  put(files, "/sys/fs/cgroup/memory/slurm/memory.stat", "total_inactive_file 268435456\n");
  const CgroupLimits limits = read_cgroup_limits(files);
  CHECK(limits.cpus == 0.5);
  CHECK(limits.memory_bytes == std::uint64_t{1} << 30);
  CHECK(limits.memory_left == std::uint64_t{1} << 29);
  CHECK_FALSE(limits.processes);
}

TEST_CASE("without readable files there are no limits") {
  FaultyFileSystem files;
  CHECK_FALSE(read_cgroup_limits(files).cpus);
  put(files, "/proc/self/cgroup", "0::/job_7\n");
  put(files, "/proc/self/mountinfo", kVersion2Mounts);
  CHECK_FALSE(read_cgroup_limits(files).memory_bytes);
}
