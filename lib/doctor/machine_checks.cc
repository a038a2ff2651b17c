#include "doctor/machine_checks.h"

#include <cstdint>
#include <utility>

#include <fmt/chrono.h>

#include "base/bytes.h"
#include "base/descriptor_limit.h"
#include "doctor/launch_checks.h"

namespace odb {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

// Sockets to peers, the store, rings and files of one rank come to some dozens; a few hundred ranks
// meet at rank 0's store.
constexpr std::uint64_t kFewOpenFiles = 128;
constexpr std::uint64_t kSafeOpenFiles = 1024;
// Trainer, fork server, workers, collate, and the threads of LibTorch.
constexpr std::uint64_t kSafeProcesses = 256;
// The smallest models, with their optimizer.
constexpr std::uint64_t kLittleMemory = 512 * kMiB;
constexpr std::uint64_t kSafeMemory = 4 * kGiB;
constexpr std::uint64_t kSafeShared = 256 * kMiB;
constexpr std::uint64_t kSafeFolder = kGiB;

// 2025-01-01 and 2100-01-01: a clock outside these dates is wrong.
constexpr std::int64_t kEarliest = 1735689600;
constexpr std::int64_t kLatest = 4102444800;

std::string limit_text(const std::optional<std::uint64_t>& limit) {
  return limit ? fmt::format("{}", *limit) : "unlimited";
}

Check check_system(const MachineFacts& facts) {
  const bool linux_kernel = facts.kernel.starts_with("Linux ");
  return {.status = linux_kernel ? CheckStatus::ok : CheckStatus::fail,
          .name = "system",
          .found = fmt::format("{} on {}", facts.kernel.empty() ? "unknown" : facts.kernel,
                               facts.host.empty() ? "unknown host" : facts.host),
          .advice = linux_kernel ? "" : "use a machine with Linux"};
}

Check check_processors(const ProcessorFacts& processors) {
  Check check{.name = "processors",
              .found = fmt::format(
                  "{} usable ({} online, {} allowed by affinity, {})",
                  usable_processors(processors), processors.online, processors.allowed,
                  processors.quota ? fmt::format("{:.3g} by control groups", *processors.quota)
                                   : "no quota")};
  if (usable_processors(processors) < 2) {
    check.status = CheckStatus::warn;
    check.advice =
        "training and data share one processor: ask for more (Slurm: --cpus-per-task) or set "
        "--data-workers 1";
  }
  return check;
}

Check check_memory(const MemoryFacts& memory) {
  Check check{
      .name = "memory",
      .found = fmt::format(
          "{}, {} available, {}", format_bytes(memory.total), format_bytes(memory.available),
          memory.limit
              ? fmt::format("{} by control groups, {} of it left", format_bytes(*memory.limit),
                            format_bytes(memory.left.value_or(*memory.limit)))
              : "no limit by control groups")};
  const std::uint64_t usable = usable_memory(memory);
  if (memory.total == 0) {
    check = {.status = CheckStatus::warn,
             .name = check.name,
             .found = "unknown: /proc/meminfo cannot be read",
             .advice = "mount /proc"};
  } else if (usable < kSafeMemory) {
    check.status = usable < kLittleMemory ? CheckStatus::fail : CheckStatus::warn;
    check.advice = fmt::format(
        "{} can be used: end other programs, or ask for more (Slurm: --mem; containers: --memory)",
        format_bytes(usable));
  }
  return check;
}

Check check_open_files(const LimitFacts& limits, std::int64_t ranks) {
  Check check{.name = "open files", .found = "limit " + limit_text(limits.open_files)};
  const std::uint64_t needed = needed_descriptors(0, ranks);
  if (limits.open_files && *limits.open_files < needed) {
    check.status = CheckStatus::fail;
    check.advice = fmt::format("rank 0 of {} ranks needs {}: raise the hard limit (ulimit -Hn {})",
                               ranks, needed, needed);
  } else if (limits.open_files && *limits.open_files < kSafeOpenFiles) {
    check.status = *limits.open_files < kFewOpenFiles ? CheckStatus::fail : CheckStatus::warn;
    check.advice = fmt::format("ulimit -n {} or more", kSafeOpenFiles);
  }
  return check;
}

Check check_locked_memory(const LimitFacts& limits, const GpuFacts& gpus) {
  Check check{.name = "locked memory",
              .found = "limit " + (limits.locked_memory ? format_bytes(*limits.locked_memory)
                                                        : std::string("unlimited"))};
  if (limits.locked_memory && *limits.locked_memory < kGiB && gpus.device_files > 0) {
    check.status = CheckStatus::warn;
    check.advice = "NCCL over InfiniBand needs: ulimit -l unlimited (on the nodes, for all jobs)";
  }
  return check;
}

Check check_processes(const LimitFacts& limits) {
  Check check{.name = "processes", .found = "limit " + limit_text(limits.processes)};
  if (limits.processes && *limits.processes < kSafeProcesses) {
    check.status = CheckStatus::warn;
    check.advice = fmt::format(
        "threads count too: ulimit -u {0} or more (containers: --pids-limit {0})", kSafeProcesses);
  }
  return check;
}

Check check_anonymous_memory(bool works) {
  return {
      .status = works ? CheckStatus::ok : CheckStatus::fail,
      .name = "anonymous shared memory",
      .found = works ? "can be mapped" : "cannot be mapped",
      .advice =
          works ? "" : "batches travel through it: raise the limit on virtual memory (ulimit -v)"};
}

Check check_shared_memory(const MachineFacts& facts) {
  Check check{
      .name = "/dev/shm",
      .found = facts.shared_free ? format_bytes(*facts.shared_free) + " free" : "not found"};
  // Our own batches do not need it; NCCL's do, between the GPUs of a machine.
  if (facts.gpus.device_files > 1 && facts.shared_free.value_or(0) < kSafeShared) {
    check.status = CheckStatus::warn;
    check.advice =
        fmt::format("NCCL between the GPUs of a machine needs {} (containers: --shm-size)",
                    format_bytes(kSafeShared));
  }
  return check;
}

Check check_clock(const ClockFacts& clock) {
  Check check{.name = "clock",
              .found = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC, {}", fmt::gmtime(clock.unix_seconds),
                                   !clock.synchronized   ? "synchronization unknown"
                                   : *clock.synchronized ? "synchronized"
                                                         : "not synchronized")};
  if (clock.unix_seconds < kEarliest || clock.unix_seconds > kLatest) {
    check.status = CheckStatus::warn;
    check.advice = "the date cannot be right: set the clock; times in logs and files are wrong";
  } else if (clock.synchronized == false) {
    check.status = CheckStatus::warn;
    check.advice =
        "start a time service (chrony, systemd-timesyncd) if logs of several machines are to be "
        "compared";
  }
  return check;
}

Check check_folder(const FolderFacts& folder) {
  Check check{.name = folder.purpose};
  if (!folder.problem.empty()) {
    const bool output = folder.purpose == "output";
    check.status = output ? CheckStatus::fail : CheckStatus::warn;
    check.found = folder.problem;
    check.advice =
        output ? "choose another --output" : "set TMPDIR to a folder that can be written";
    return check;
  }
  const std::string free =
      folder.free ? format_bytes(*folder.free) + " free" : "free space unknown";
  check.found = fmt::format("{} can be written, {}", folder.path, free);
  if (folder.free && *folder.free < kSafeFolder) {
    check.status = CheckStatus::warn;
    check.advice = "free some space: a checkpoint holds 12 bytes per parameter and more";
  }
  return check;
}

}  // namespace

std::vector<Check> check_machine(const MachineFacts& facts, std::int64_t ranks) {
  std::vector<Check> checks{check_system(facts),
                            check_processors(facts.processors),
                            check_memory(facts.memory),
                            check_open_files(facts.limits, ranks),
                            check_locked_memory(facts.limits, facts.gpus),
                            check_processes(facts.limits),
                            check_anonymous_memory(facts.anonymous_memory),
                            check_shared_memory(facts),
                            check_clock(facts.clock)};
  for (const FolderFacts& folder : facts.folders)
    checks.push_back(check_folder(folder));
  for (Check& check : check_launch(facts))
    checks.push_back(std::move(check));
  return checks;
}

}  // namespace odb
