#include "base/machine.h"

#include <sys/stat.h>

#include <cerrno>
#include <set>

#include "base/error.h"
#include "base/real_file_system.h"
#include "catch.h"
#include "faulty_file_system.h"
#include "temporary_folder.h"

using namespace odb;

namespace {
void put(FileSystem& files, const std::string& path, std::string_view text) {
  files.make_folders(parent_folder(path));
  files.write_durably(path, text);
}
}  // namespace

TEST_CASE("lists of processors are counted") {
  struct Row {
    const char* text;
    int count;
  };
  const Row rows[] = {{"0-1\n", 2}, {"0", 1},  {"0-3,8,10-11\n", 7}, {"", 0}, {"x", 0}, {"3-1", 0},
                      {"0-1-2", 0}, {"0,", 0}, {"0-255", 256}};
  for (const Row& row : rows) {
    INFO(row.text);
    CHECK(count_cpu_list(row.text) == row.count);
  }
}

TEST_CASE("usable processors are the minimum of what exists and what is allowed") {
  struct Row {
    ProcessorFacts facts;
    int usable;
  };
  const Row rows[] = {{{.online = 8, .allowed = 8}, 8},
                      {{.online = 8, .allowed = 3}, 3},
                      {{.online = 8, .allowed = 8, .quota = 2.0}, 2},
                      {{.online = 8, .allowed = 8, .quota = 1.5}, 2},
                      {{.online = 8, .allowed = 2, .quota = 6.0}, 2},
                      {{.online = 8, .allowed = 8, .quota = 0.2}, 1},
                      {{.online = 8, .allowed = 0}, 8},
                      {{.online = 0, .allowed = 0}, 1}};
  for (const Row& row : rows)
    CHECK(usable_processors(row.facts) == row.usable);
}

TEST_CASE("memory is read in bytes and bounded by its limit") {
  MemoryFacts memory = parse_memory_info(
      "MemTotal:       24684092 kB\nMemFree:         9814128 kB\nMemAvailable:   23534756 kB\n");
  CHECK(memory.total == 25276510208);
  CHECK(memory.available == 24099590144);
  CHECK(usable_memory(memory) == 24099590144);
  memory.limit = 25276510208;
  memory.left = 1000;
  CHECK(usable_memory(memory) == 1000);
  memory.left = 25276510208;
  CHECK(usable_memory(memory) == 24099590144);
  CHECK(parse_memory_info("") == MemoryFacts{});
  CHECK(parse_memory_info("MemTotal:\nMemAvailable: lots kB\n") == MemoryFacts{});
}

TEST_CASE("the driver's version is found in its text, old and new") {
  CHECK(parse_nvidia_driver("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct "
                            "19 18:56:32 UTC 2023\nGCC version:  gcc version 12.2.0 (Debian)\n") ==
        "535.129.03");
  CHECK(parse_nvidia_driver("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  "
                            "Release Build  (builder)\n") == "580.65.06");
  CHECK(parse_nvidia_driver("GCC version:  gcc version 12.2.0\n").empty());
  CHECK(parse_nvidia_driver("").empty());
}

TEST_CASE("GPUs are counted by the kernel's list and by their device files") {
  FaultyFileSystem files;
  CHECK(read_gpus(files).models.empty());
  put(files, "/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX  Module  550.54.15  x\n");
  put(files, "/proc/driver/nvidia/gpus/0000:19:00.0/information",
      "Model: \t\t NVIDIA H200\nIRQ:   \t\t 18\nGPU UUID: \t GPU-1\n");
  put(files, "/proc/driver/nvidia/gpus/0000:3b:00.0/information", "IRQ: 19\n");
  for (const char* name : {"nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "nvidia", "null"})
    put(files, join_path("/dev", name), "");
  const GpuFacts gpus = read_gpus(files);
  CHECK(gpus.driver == "550.54.15");
  CHECK(gpus.models == std::vector<std::string>{"NVIDIA H200", ""});
  CHECK(gpus.device_files == 2);
}

TEST_CASE("a folder is tried by writing, and left as it was") {
  TemporaryFolder folder;
  RealFileSystem files;
  const FolderFacts there = try_folder(files, "output", folder.path(), true);
  CHECK(there.problem.empty());
  CHECK(there.free > 0);
  CHECK(try_folder(files, "output", folder / "not/yet/there", true).problem.empty());
  CHECK_THAT(try_folder(files, "temporary files", folder / "none", false).problem,
             Catch::Contains("No such file"));
  CHECK(files.list(folder.path()).empty());
  const std::string file = folder.write("file", "x");
  CHECK_THAT(try_folder(files, "output", file, true).problem, Catch::Contains("Not a directory"));
  CHECK(try_folder(files, "output", "/proc/none", true).problem.find("cannot open") == 0);
}

TEST_CASE("a folder on a full or read-only disk is reported as such") {
  FaultyFileSystem files;
  files.set_capacity(0);
  CHECK_THAT(try_folder(files, "output", "/run", true).problem, Catch::Contains("No space left"));
  CHECK(files.contents().empty());
  files.fail_next(FaultyFileSystem::Call::open, EROFS);
  CHECK_THAT(try_folder(files, "output", "run", true).problem, Catch::Contains("Read-only"));
}

TEST_CASE("programs are looked for in the order of PATH") {
  const std::set<std::string> there{"/opt/slurm/bin/srun", "/usr/bin/srun", "./mpirun"};
  const auto is_executable = [&](const std::string& file) { return there.contains(file); };
  CHECK(find_program("srun", "/bin:/opt/slurm/bin/:/usr/bin", is_executable) ==
        "/opt/slurm/bin/srun");
  CHECK(find_program("srun", "/bin:/usr/bin", is_executable) == "/usr/bin/srun");
  CHECK(find_program("srun", "/bin", is_executable).empty());
  CHECK(find_program("srun", "", is_executable).empty());
  CHECK(find_program("mpirun", "/bin:", is_executable).empty());
}

TEST_CASE("this machine is read without trouble") {
  RealFileSystem files;
  TemporaryFolder folder;
  const std::string srun = folder.write("bin/srun", "");
  ::chmod(srun.c_str(), 0755);
  folder.write("bin/sinfo", "not executable");
  const std::map<std::string, std::string> variables{
      {"PATH", folder / "bin"}, {"TMPDIR", folder.path()}, {"SLURM_JOB_ID", "7"}, {"HOME", "/"}};
  const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
  const MachineFacts facts = read_machine(files, environment, folder / "run");
  CHECK(facts.kernel.find("Linux ") == 0);
  CHECK(facts.processors.allowed >= 1);
  CHECK(facts.processors.online >= facts.processors.allowed);
  CHECK(facts.memory.total > facts.memory.available);
  CHECK(facts.memory.available > 0);
  CHECK(facts.anonymous_memory);
  CHECK(facts.clock.unix_seconds > 0);
  REQUIRE(facts.folders.size() == 2);
  CHECK(facts.folders[0].path == folder.path());
  CHECK(facts.folders[1].purpose == "output");
  CHECK(facts.folders[1].problem.empty());
  CHECK(facts.launch.programs == std::map<std::string, std::string>{{"srun", srun}});
  CHECK(facts.launch.environment == std::map<std::string, std::string>{{"SLURM_JOB_ID", "7"}});
  CHECK(process_environment("PATH").has_value());
  CHECK_FALSE(process_environment("ODB_NO_SUCH_VARIABLE"));
}
