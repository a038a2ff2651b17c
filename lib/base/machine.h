// Facts about the machine and the environment of this process, for `doctor`.
//
// read_machine() gathers them: /proc, /sys and /dev through a FileSystem, the rest from system
// calls. Nothing is judged here (base/machine_checks.h does). What cannot be found out is left
// empty. Nothing throws for a missing fact, and nothing blocks for long except a folder on a dead
// network file system.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cgroup.h"
#include "base/files.h"
#include "base/launch_environment.h"

namespace odb {

struct ProcessorFacts {
  int online = 0;
  int allowed = 0;              // by this process's affinity; a batch system sets it
  std::optional<double> quota;  // by its control groups, in processors' worth of time
  friend bool operator==(const ProcessorFacts&, const ProcessorFacts&) = default;
};
// How many threads can work at the same time: at least 1, a part of a processor counts as one.
int usable_processors(const ProcessorFacts& processors);

struct MemoryFacts {
  std::uint64_t total = 0;             // bytes; 0: unknown
  std::uint64_t available = 0;         // without swapping, as the kernel estimates
  std::optional<std::uint64_t> limit;  // by the control groups
  std::optional<std::uint64_t> left;   // of their limits
  friend bool operator==(const MemoryFacts&, const MemoryFacts&) = default;
};
std::uint64_t usable_memory(const MemoryFacts& memory);

struct LimitFacts {  // soft limits of setrlimit; none: unlimited
  std::optional<std::uint64_t> open_files;
  std::optional<std::uint64_t> locked_memory;  // bytes
  std::optional<std::uint64_t> processes;      // the lesser of the user's and the control group's
};

struct ClockFacts {
  std::int64_t unix_seconds = 0;
  std::optional<bool> synchronized;  // by a time service, as the kernel reports
};

struct FolderFacts {
  std::string purpose;  // "output", "temporary files"
  std::string path;
  std::string problem;                // why nothing can be written there; empty: it can
  std::optional<std::uint64_t> free;  // none: its file system does not report it
};

struct LaunchFacts {
  std::map<std::string, std::string> environment;  // of the variables below, those that are set
  std::map<std::string, std::string> programs;     // name -> path, of those found on PATH
};

struct GpuFacts {
  std::string driver;               // "550.54.15"; empty: no driver of NVIDIA in the kernel
  std::vector<std::string> models;  // as the kernel names them, one per GPU
  int device_files = 0;             // /dev/nvidia0, /dev/nvidia1, ...
};

struct MachineFacts {
  std::string host;
  std::string kernel;  // "Linux 6.1.0 x86_64"
  ProcessorFacts processors;
  MemoryFacts memory;
  LimitFacts limits;
  bool anonymous_memory = false;  // memory without a file can be shared with forked processes
  std::optional<std::uint64_t> shared_free;  // bytes free in /dev/shm; none: it does not exist
  ClockFacts clock;
  std::vector<FolderFacts> folders;
  LaunchFacts launch;
  GpuFacts gpus;
};

std::optional<std::string> process_environment(const std::string& name);

// The memory facts of read_machine().
MemoryFacts read_memory(FileSystem& files);

// Checks `output_folder` too, unless it is empty; it need not exist yet.
MachineFacts read_machine(FileSystem& files, const Environment& environment,
                          const std::string& output_folder);

// The parts that are pure, or depend on their arguments only.

// "0-3,8" -> 5. 0 when it cannot be read.
int count_cpu_list(std::string_view text);
// The MemTotal and MemAvailable lines of /proc/meminfo (kB there, bytes here).
MemoryFacts parse_memory_info(std::string_view text);
// The version number in /proc/driver/nvidia/version; empty when there is none.
std::string parse_nvidia_driver(std::string_view text);
// The Model line of /proc/driver/nvidia/gpus/*/information; empty when there is none.
std::string parse_nvidia_model(std::string_view text);
GpuFacts read_gpus(FileSystem& files);

// Writes and removes a small file in the folder. With `may_be_missing` (a run makes it) it uses the
// nearest existing folder above.
FolderFacts try_folder(FileSystem& files, const std::string& purpose, const std::string& path,
                       bool may_be_missing);

// The first executable file of that name in the folders of `path` ("a:b"); empty when none.
std::string find_program(const std::string& name, std::string_view path,
                         const std::function<bool(const std::string&)>& is_executable);

}  // namespace odb
