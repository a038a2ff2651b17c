#include "doctor/machine_checks.h"

#include <algorithm>

#include "catch.h"

using namespace odb;

namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// A machine that passes every check: two GPUs inside a Slurm job.
MachineFacts good_machine() {
  return {
      .host = "node7",
      .kernel = "Linux 6.1.0 x86_64",
      .processors = {.online = 16, .allowed = 8, .quota = 6.5},
      .memory = {.total = 128 * kGiB,
                 .available = 100 * kGiB,
                 .limit = 64 * kGiB,
                 .left = 60 * kGiB},
      .limits = {.open_files = 4096, .locked_memory = std::nullopt, .processes = 4096},
      .anonymous_memory = true,
      .shared_free = 16 * kGiB,
      .clock = {.unix_seconds = 1767225600, .synchronized = true},
      .folders = {{.purpose = "output", .path = "/runs/a", .problem = "", .free = 500 * kGiB}},
      .launch = {.environment = {{"SLURM_JOB_ID", "7"}, {"SLURM_PROCID", "0"}},
                 .programs = {{"srun", "/usr/bin/srun"}, {"nvidia-smi", "/usr/bin/nvidia-smi"}}},
      .gpus = {.driver = "550.54.15", .models = {"NVIDIA H200", "NVIDIA H200"}, .device_files = 2}};
}

Check check_named(const MachineFacts& facts, const std::string& name) {
  const std::vector<Check> checks = check_machine(facts);
  const auto found = std::find_if(checks.begin(), checks.end(),
                                  [&](const Check& check) { return check.name == name; });
  REQUIRE(found != checks.end());
  return *found;
}

}  // namespace

TEST_CASE("on a good machine every check is ok and shows its numbers") {
  const auto ok = [](const char* name, const char* found) {
    return Check{.status = CheckStatus::ok, .name = name, .found = found, .advice = ""};
  };
  const std::vector<Check> checks = check_machine(good_machine());
  const std::vector<Check> expected{
      ok("system", "Linux 6.1.0 x86_64 on node7"),
      ok("processors", "7 usable (16 online, 8 allowed by affinity, 6.5 by control groups)"),
      ok("memory",
         "128.0 GiB, 100.0 GiB available, 64.0 GiB by control groups, 60.0 GiB of it left"),
      ok("open files", "limit 4096"),
      ok("locked memory", "limit unlimited"),
      ok("processes", "limit 4096"),
      ok("anonymous shared memory", "can be mapped"),
      ok("/dev/shm", "16.0 GiB free"),
      ok("clock", "2026-01-01 00:00:00 UTC, synchronized"),
      ok("output", "/runs/a can be written, 500.0 GiB free"),
      ok("Slurm", "SLURM_JOB_ID=7 SLURM_PROCID=0; /usr/bin/srun; no sinfo on PATH"),
      ok("MPI", "not started by MPI; no mpirun on PATH"),
      ok("rank variables", "none set"),
      ok("GPUs", "2 x NVIDIA H200; driver 550.54.15; 2 device files; /usr/bin/nvidia-smi")};
  REQUIRE(checks.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(checks[i].name << ": " << checks[i].found << " -> " << checks[i].advice);
    CHECK(checks[i] == expected[i]);
  }
  CHECK(worst(checks) == CheckStatus::ok);
}

TEST_CASE("each fault gets a status and advice") {
  struct Row {
    const char* story;
    void (*change)(MachineFacts&);
    const char* name;
    CheckStatus status;
    const char* advice;  // a part of it
  };
  const auto warn = CheckStatus::warn;
  const auto fail = CheckStatus::fail;
  using Facts = MachineFacts;
  const Row rows[] = {
      {"another system", [](Facts& f) { f.kernel = "FreeBSD 14"; }, "system", fail, "Linux"},
      {"one processor", [](Facts& f) { f.processors.allowed = 1; }, "processors", warn,
       "--cpus-per-task"},
      {"a small quota", [](Facts& f) { f.processors.quota = 0.5; }, "processors", warn,
       "--data-workers 1"},
      {"no /proc", [](Facts& f) { f.memory = {}; }, "memory", warn, "mount /proc"},
      {"a small limit of memory", [](Facts& f) { f.memory.left = 2 * kGiB; }, "memory", warn,
       "2.0 GiB can be used"},
      {"hardly any memory", [](Facts& f) { f.memory.available = 1 << 28; }, "memory", fail,
       "256.0 MiB can be used"},
      {"few open files", [](Facts& f) { f.limits.open_files = 512; }, "open files", warn,
       "ulimit -n 1024"},
      {"hardly any open files", [](Facts& f) { f.limits.open_files = 64; }, "open files", fail,
       "ulimit -n 1024"},
      {"little locked memory", [](Facts& f) { f.limits.locked_memory = 8 << 20; }, "locked memory",
       warn, "ulimit -l unlimited"},
      {"few processes", [](Facts& f) { f.limits.processes = 100; }, "processes", warn,
       "ulimit -u 256"},
      {"no shared memory", [](Facts& f) { f.anonymous_memory = false; }, "anonymous shared memory",
       fail, "ulimit -v"},
      {"a container's /dev/shm", [](Facts& f) { f.shared_free = 64 << 20; }, "/dev/shm", warn,
       "--shm-size"},
      {"no /dev/shm", [](Facts& f) { f.shared_free.reset(); }, "/dev/shm", warn, "--shm-size"},
      {"a clock at 1970", [](Facts& f) { f.clock.unix_seconds = 3600; }, "clock", warn,
       "set the clock"},
      {"a clock far ahead", [](Facts& f) { f.clock.unix_seconds = 5000000000; }, "clock", warn,
       "set the clock"},
      {"a free-running clock", [](Facts& f) { f.clock.synchronized = false; }, "clock", warn,
       "time service"},
      {"a folder without permission",
       [](Facts& f) { f.folders[0].problem = "cannot open /runs/a/x"; }, "output", fail,
       "--output"},
      {"temporary files cannot be written",
       [](Facts& f) { f.folders[0] = {.purpose = "temporary files", .problem = "full"}; },
       "temporary files", warn, "TMPDIR"},
      {"a nearly full folder", [](Facts& f) { f.folders[0].free = 1 << 20; }, "output", warn,
       "space"},
      {"a job without srun", [](Facts& f) { f.launch.programs.erase("srun"); }, "Slurm", warn,
       "PATH"},
      {"half the variables", [](Facts& f) { f.launch.environment["RANK"] = "0"; }, "rank variables",
       warn, "but not WORLD_SIZE"},
      {"the other half", [](Facts& f) { f.launch.environment["WORLD_SIZE"] = "2"; },
       "rank variables", warn, "but not RANK"},
      {"a rank that is no number",
       [](Facts& f) { f.launch.environment.insert({{"RANK", "x"}, {"WORLD_SIZE", "2"}}); },
       "rank variables", warn, "RANK=x"},
      {"a rank beyond the others",
       [](Facts& f) { f.launch.environment.insert({{"RANK", "2"}, {"WORLD_SIZE", "2"}}); },
       "rank variables", warn, "ranks count from 0"},
      {"no place to meet",
       [](Facts& f) {
         f.launch.environment.insert({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}});
       },
       "rank variables", warn, "MASTER_PORT is missing"},
      {"GPUs of the host only", [](Facts& f) { f.gpus.device_files = 0; }, "GPUs", warn,
       "--gpus all"},
      {"a driver without GPUs", [](Facts& f) { f.gpus.models.clear(); }, "GPUs", warn, "dmesg"},
  };
  for (const Row& row : rows) {
    INFO(row.story);
    MachineFacts facts = good_machine();
    row.change(facts);
    const Check check = check_named(facts, row.name);
    CHECK(check.status == row.status);
    CHECK_THAT(check.advice, Catch::Contains(row.advice));
    const std::vector<Check> checks = check_machine(facts);
    CHECK(worst(checks) == row.status);
    CHECK(std::count_if(checks.begin(), checks.end(),
                        [](const Check& other) { return other.status != CheckStatus::ok; }) == 1);
  }
}

TEST_CASE("a machine without GPUs needs nothing that only they need") {
  MachineFacts facts = good_machine();
  facts.gpus = {};
  facts.limits.locked_memory = 0;
  facts.shared_free.reset();
  CHECK(worst(check_machine(facts)) == CheckStatus::ok);
  CHECK(worst(check_machine(good_machine(), 672)) == CheckStatus::ok);
  const Check few = check_machine(good_machine(), 673)[3];
  CHECK(few == Check{.status = CheckStatus::fail,
                     .name = "open files",
                     .found = "limit 4096",
                     .advice = "rank 0 of 673 ranks needs 4102: raise the hard limit (ulimit -Hn "
                               "4102)"});
  CHECK_THAT(check_named(facts, "GPUs").found, Catch::Contains("none"));
  CHECK(check_named(facts, "/dev/shm").found == "not found");
}

TEST_CASE("facts that could not be read are shown as unknown") {
  const MachineFacts facts{.anonymous_memory = true};
  CHECK(check_named(facts, "system").found == "unknown on unknown host");
  CHECK(check_named(facts, "open files").found == "limit unlimited");
  CHECK_THAT(check_named(facts, "clock").found, Catch::Contains("synchronization unknown"));
  CHECK(worst({}) == CheckStatus::ok);
  CHECK(name(CheckStatus::fail) == std::string("fail"));
}
