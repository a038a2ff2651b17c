#include "base/machine.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr const char* kPrograms[] = {"srun", "sinfo", "mpirun", "nvidia-smi"};
// A machine may have more processors than one cpu_set_t holds. Then the call fails, and an array of
// sets is the documented larger set.
int allowed_processors() {
  for (std::size_t length = 1; length <= 1024; length *= 4) {
    std::vector<cpu_set_t> sets(length);
    const std::size_t size = length * sizeof(cpu_set_t);
    if (::sched_getaffinity(0, size, sets.data()) == 0) return CPU_COUNT_S(size, sets.data());
  }
  return 0;
}

std::optional<std::uint64_t> soft_limit(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

LimitFacts read_limits(const CgroupLimits& groups) {
  LimitFacts limits{.open_files = soft_limit(RLIMIT_NOFILE),
                    .locked_memory = soft_limit(RLIMIT_MEMLOCK),
                    .processes = soft_limit(RLIMIT_NPROC)};
  if (groups.processes && (!limits.processes || *groups.processes < *limits.processes))
    limits.processes = groups.processes;
  return limits;
}

MemoryFacts memory_facts(FileSystem& files, const CgroupLimits& groups) {
  MemoryFacts memory = parse_memory_info(read_if_there(files, "/proc/meminfo"));
  memory.limit = groups.memory_bytes;
  memory.left = groups.memory_left;
  return memory;
}

bool try_anonymous_memory() {
  constexpr std::size_t kPage = 4096;
  void* const place =
      ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return place != MAP_FAILED && ::munmap(place, kPage) == 0;
}

ClockFacts read_clock() {
  ClockFacts clock{.unix_seconds = ::time(nullptr)};
  timex question{};
  const int state = ::adjtimex(&question);
  if (state >= 0) clock.synchronized = state != TIME_ERROR && (question.status & STA_UNSYNC) == 0;
  return clock;
}

LaunchFacts read_launch(const Environment& environment) {
  LaunchFacts launch;
  for (const char* name : launch_variables())
    if (const auto value = environment(name)) launch.environment[name] = *value;
  const std::string path = environment("PATH").value_or("");
  for (const char* name : kPrograms) {
    const std::string found = find_program(
        name, path, [](const std::string& file) { return ::access(file.c_str(), X_OK) == 0; });
    if (!found.empty()) launch.programs[name] = found;
  }
  return launch;
}

std::string nearest_folder(FileSystem& files, const std::string& path) {
  std::string folder = path;
  while (!files.exists(folder) && folder != parent_folder(folder))
    folder = parent_folder(folder);
  return folder;
}

std::uint64_t kilobytes(std::string_view line) {
  const std::vector<std::string_view> words = split_words(line);
  return words.size() < 2 ? 0 : parse_integer<std::uint64_t>(words[1]).value_or(0) * 1024;
}

bool is_version_number(std::string_view word) {
  const std::vector<std::string_view> parts = split(word, '.');
  return parts.size() >= 2 && std::all_of(parts.begin(), parts.end(), [](std::string_view part) {
           return parse_integer<unsigned>(part).has_value();
         });
}

std::optional<std::uint64_t> free_space_if_there(FileSystem& files, const std::string& folder) {
  try {
    return files.free_space(folder);
  } catch (const FileError&) {
    return std::nullopt;
  }
}

}  // namespace

int usable_processors(const ProcessorFacts& processors) {
  int usable = processors.allowed > 0 ? processors.allowed : processors.online;
  if (processors.quota && *processors.quota < usable)
    usable = static_cast<int>(std::ceil(*processors.quota));
  return std::max(usable, 1);
}

std::uint64_t usable_memory(const MemoryFacts& memory) {
  return std::min(memory.available, memory.left.value_or(memory.available));
}

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

int count_cpu_list(std::string_view text) {
  int count = 0;
  for (const std::string_view part : split(trim(text), ',')) {
    const std::vector<std::string_view> ends = split(part, '-');
    const auto first = parse_integer<int>(ends.front());
    const auto last = parse_integer<int>(ends.back());
    if (!first || !last || ends.size() > 2 || *last < *first) return 0;
    count += *last - *first + 1;
  }
  return count;
}

MemoryFacts parse_memory_info(std::string_view text) {
  MemoryFacts memory;
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with("MemTotal:")) memory.total = kilobytes(line);
    if (line.starts_with("MemAvailable:")) memory.available = kilobytes(line);
  }
  return memory;
}

std::string parse_nvidia_driver(std::string_view text) {
  for (const std::string_view line : split_lines(text)) {
    if (!line.starts_with("NVRM version:")) continue;
    for (const std::string_view word : split_words(line))
      if (is_version_number(word)) return std::string(word);
  }
  return "";
}

std::string parse_nvidia_model(std::string_view text) {
  constexpr std::string_view kModel = "Model:";
  for (const std::string_view line : split_lines(text))
    if (line.starts_with(kModel)) return std::string(trim(line.substr(kModel.size())));
  return "";
}

GpuFacts read_gpus(FileSystem& files) {
  const std::string kernel = "/proc/driver/nvidia";
  GpuFacts gpus{.driver = parse_nvidia_driver(read_if_there(files, kernel + "/version"))};
  if (files.is_folder(kernel + "/gpus"))
    for (const std::string& address : files.list(kernel + "/gpus"))
      gpus.models.push_back(
          parse_nvidia_model(read_if_there(files, kernel + "/gpus/" + address + "/information")));
  constexpr std::string_view kDevice = "nvidia";
  if (files.is_folder("/dev"))
    for (const std::string& name : files.list("/dev"))
      gpus.device_files += name.starts_with(kDevice) &&
                           parse_integer<unsigned>(std::string_view(name).substr(kDevice.size()));
  return gpus;
}

FolderFacts try_folder(FileSystem& files, const std::string& purpose, const std::string& path,
                       bool may_be_missing) {
  FolderFacts facts{.purpose = purpose, .path = path};
  try {
    const std::string folder = may_be_missing ? nearest_folder(files, path) : path;
    const std::string probe =
        join_path(folder, fmt::format(".odb-doctor-{}", static_cast<long>(::getpid())));
    OutputFile file = files.create(probe);
    try {
      file.write("x");
      file.close();
    } catch (const FileError&) {
      files.remove(probe);
      throw;
    }
    files.remove(probe);
    facts.free = files.free_space(folder);
  } catch (const FileError& error) {
    facts.problem = error.what();
  }
  return facts;
}

std::string find_program(const std::string& name, std::string_view path,
                         const std::function<bool(const std::string&)>& is_executable) {
  for (const std::string_view folder : split(path, ':')) {
    // An empty part means the working folder; a program found there is an accident.
    if (folder.empty()) continue;
    std::string file = join_path(std::string(folder), name);
    if (is_executable(file)) return file;
  }
  return "";
}

MemoryFacts read_memory(FileSystem& files) {
  return memory_facts(files, read_cgroup_limits(files));
}

MachineFacts read_machine(FileSystem& files, const Environment& environment,
                          const std::string& output_folder) {
  const CgroupLimits groups = read_cgroup_limits(files);
  MachineFacts facts;
  utsname system{};
  if (::uname(&system) == 0) {
    facts.host = system.nodename;
    facts.kernel = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
  }
  facts.processors = {
      .online = count_cpu_list(read_if_there(files, "/sys/devices/system/cpu/online")),
      .allowed = allowed_processors(),
      .quota = groups.cpus};
  facts.memory = memory_facts(files, groups);
  facts.limits = read_limits(groups);
  facts.anonymous_memory = try_anonymous_memory();
  facts.shared_free = free_space_if_there(files, "/dev/shm");
  facts.clock = read_clock();
  facts.folders.push_back(
      try_folder(files, "temporary files", environment("TMPDIR").value_or("/tmp"), false));
  if (!output_folder.empty())
    facts.folders.push_back(try_folder(files, "output", output_folder, true));
  facts.launch = read_launch(environment);
  facts.gpus = read_gpus(files);
  return facts;
}

}  // namespace odb
