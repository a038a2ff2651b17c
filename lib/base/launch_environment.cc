#include "base/launch_environment.h"

#include <array>
#include <string_view>

#include "base/error.h"
#include "base/slurm_hosts.h"
#include "base/text.h"

namespace odb {
namespace {

// The variables of one kind of launcher; null: it has none of that meaning.
struct Launcher {
  const char* source;
  const char* rank;
  const char* world;
  const char* local_rank;
  const char* local_world;
};

constexpr std::array kLaunchers = {
    Launcher{"RANK", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    Launcher{"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
             "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    Launcher{"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
             "MV2_COMM_WORLD_LOCAL_SIZE"},
    Launcher{"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"}};

constexpr std::array kVariables = {"RANK",
                                   "WORLD_SIZE",
                                   "LOCAL_RANK",
                                   "LOCAL_WORLD_SIZE",
                                   "MASTER_ADDR",
                                   "MASTER_PORT",
                                   "OMPI_COMM_WORLD_RANK",
                                   "OMPI_COMM_WORLD_SIZE",
                                   "OMPI_COMM_WORLD_LOCAL_RANK",
                                   "OMPI_COMM_WORLD_LOCAL_SIZE",
                                   "MV2_COMM_WORLD_RANK",
                                   "MV2_COMM_WORLD_SIZE",
                                   "MV2_COMM_WORLD_LOCAL_RANK",
                                   "MV2_COMM_WORLD_LOCAL_SIZE",
                                   "PMI_RANK",
                                   "PMI_SIZE",
                                   "MPI_LOCALRANKID",
                                   "MPI_LOCALNRANKS",
                                   "PMIX_RANK",
                                   "SLURM_JOB_ID",
                                   "SLURM_STEP_ID",
                                   "SLURM_PROCID",
                                   "SLURM_LOCALID",
                                   "SLURM_NODEID",
                                   "SLURM_STEP_NUM_TASKS",
                                   "SLURM_NTASKS",
                                   "SLURM_NNODES",
                                   "SLURM_NTASKS_PER_NODE",
                                   "SLURM_STEP_TASKS_PER_NODE",
                                   "SLURM_TASKS_PER_NODE",
                                   "SLURM_STEP_NODELIST",
                                   "SLURM_JOB_NODELIST",
                                   "SLURM_NODELIST",
                                   "SLURM_RESTART_COUNT"};

// Slurm numbers its own steps (of a batch script, of an interactive shell) from here on.
constexpr std::int64_t kFirstSpecialStep = 4294967290;

class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  bool has(const char* name) const { return environment_(name).has_value(); }

  std::optional<std::int64_t> number(const char* name) const {
    const std::optional<std::string> text = environment_(name);
    if (!text) return std::nullopt;
    const auto number = parse_integer<std::int64_t>(*text);
    if (!number || *number < 0)
      throw UsageError("the environment has {}={}; expected a whole number of at least 0", name,
                       *text);
    return number;
  }

  std::string text(const char* name) const { return environment_(name).value_or(""); }

 private:
  const Environment& environment_;
};

// The rank and the number of ranks, which are in these variables, must fit together.
void check(const RankPlace& place, const char* rank, const char* world) {
  if (place.rank >= place.world)
    throw UsageError("found {}={} with {}={} ({}); ranks count from 0 to {}", rank, place.rank,
                     world, place.world, place.source, place.world - 1);
  const auto& local = place.local_rank;
  const auto& on_machine = place.local_world;
  if (local && on_machine && *local >= *on_machine)
    throw UsageError("found local rank {} of {} on this machine ({}); they count from 0 to {}",
                     *local, *on_machine, place.source, *on_machine - 1);
}

std::optional<RankPlace> place_by(const Reader& read, const Launcher& launcher) {
  const auto rank = read.number(launcher.rank);
  const auto world = read.number(launcher.world);
  const auto local_rank = read.number(launcher.local_rank);
  if (!rank && !world && !local_rank) return std::nullopt;
  if (!rank || !world) {
    const char* const found = rank ? launcher.rank : world ? launcher.world : launcher.local_rank;
    throw UsageError(
        "the environment has {}={}, but not {}: this seems to be one of several processes, and "
        "would train alone; set both {} and {}, or neither",
        found, read.text(found), rank ? launcher.world : launcher.rank, launcher.rank,
        launcher.world);
  }
  RankPlace place{.source = launcher.source,
                  .rank = *rank,
                  .world = *world,
                  .local_rank = local_rank,
                  .local_world = read.number(launcher.local_world)};
  check(place, launcher.rank, launcher.world);
  return place;
}

// "2(x3),1": tasks of the first three machines, and of the fourth.
std::optional<std::int64_t> tasks_of_machine(std::string_view text, std::int64_t machine) {
  for (const std::string_view part : split(text, ',')) {
    const std::size_t bracket = part.find("(x");
    const auto tasks = parse_integer<std::int64_t>(part.substr(0, bracket));
    std::int64_t machines = 1;
    if (bracket != std::string_view::npos) {
      const std::string_view rest = part.substr(bracket + 2);
      machines = parse_integer<std::int64_t>(rest.substr(0, rest.size() - 1)).value_or(0);
    }
    if (!tasks || machines < 1) return std::nullopt;
    if (machine < machines) return tasks;
    machine -= machines;
  }
  return std::nullopt;
}

std::optional<std::int64_t> slurm_world(const Reader& read) {
  if (const auto tasks = read.number("SLURM_STEP_NUM_TASKS")) return tasks;
  if (const auto tasks = read.number("SLURM_NTASKS")) return tasks;
  const auto nodes = read.number("SLURM_NNODES");
  const auto each = read.number("SLURM_NTASKS_PER_NODE");
  return nodes && each ? std::optional(*nodes * *each) : std::nullopt;
}

std::optional<std::int64_t> slurm_local_world(const Reader& read, std::int64_t world) {
  const std::int64_t machine = read.number("SLURM_NODEID").value_or(0);
  for (const char* name : {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"})
    if (read.has(name)) return tasks_of_machine(read.text(name), machine);
  if (read.has("SLURM_STEP_NODELIST") &&
      parse_host_list(read.text("SLURM_STEP_NODELIST")).count == 1)
    return world;
  return read.number("SLURM_NTASKS_PER_NODE");
}

std::optional<RankPlace> place_by_slurm(const Reader& read) {
  const auto step = read.number("SLURM_STEP_ID");
  const bool in_step = (step && *step < kFirstSpecialStep) || read.has("SLURM_STEP_NUM_TASKS");
  if (!in_step) return std::nullopt;
  const auto rank = read.number("SLURM_PROCID");
  const auto world = slurm_world(read);
  if (!rank || !world)
    throw UsageError(
        "this is a task of Slurm step {}, but the environment has no {}; start it with srun, or "
        "give --rank, --world-size and --rendezvous",
        read.text("SLURM_STEP_ID"), rank ? "SLURM_STEP_NUM_TASKS" : "SLURM_PROCID");
  RankPlace place{.source = "Slurm",
                  .rank = *rank,
                  .world = *world,
                  .local_rank = read.number("SLURM_LOCALID"),
                  .local_world = slurm_local_world(read, *world)};
  check(place, "SLURM_PROCID", "the number of tasks");
  return place;
}

}  // namespace

std::optional<RankPlace> find_rank_place(const Environment& environment) {
  const Reader read(environment);
  for (const Launcher& launcher : kLaunchers)
    if (auto place = place_by(read, launcher)) return place;
  if (auto place = place_by_slurm(read)) return place;
  if (read.has("PMIX_RANK") && read.number("PMIX_RANK") != 0)
    throw UsageError(
        "the environment has PMIX_RANK={}, but nothing says of how many ranks; set RANK and "
        "WORLD_SIZE, or give --rank and --world-size",
        read.text("PMIX_RANK"));
  return std::nullopt;
}

std::span<const char* const> launch_variables() {
  return kVariables;
}

std::string batch_shell_notice(const Environment& environment) {
  const Reader read(environment);
  if (!read.has("SLURM_JOB_ID") || find_rank_place(environment)) return "";
  const std::int64_t tasks = slurm_world(read).value_or(1);
  if (tasks < 2) return "";
  return fmt::format(
      "this process is no task of a Slurm step and trains alone, although the job has {} tasks; "
      "start the ranks with srun",
      tasks);
}

std::optional<HostPort> slurm_rendezvous(const Environment& environment) {
  const Reader read(environment);
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    if (!read.has(name)) continue;
    const std::int64_t job = read.number("SLURM_JOB_ID").value_or(0);
    const std::int64_t step = read.number("SLURM_STEP_ID").value_or(0);
    const std::int64_t restart = read.number("SLURM_RESTART_COUNT").value_or(0);
    constexpr std::int64_t kPorts = kLastSlurmPort - kFirstSlurmPort + 1;
    const std::int64_t port = kFirstSlurmPort + (job * 31 + step * 7 + restart) % kPorts;
    return HostPort{.host = parse_host_list(read.text(name)).first,
                    .port = static_cast<std::uint16_t>(port)};
  }
  return std::nullopt;
}

}  // namespace odb
