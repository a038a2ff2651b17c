// Which rank a process is, from its options and the variables that launchers set.
#include "train/session/launch_config.h"

#include <map>

#include "base/error.h"
#include "catch.h"

using namespace odb;

namespace {

using Variables = std::map<std::string, std::string>;

LaunchConfig config_in(const Variables& variables, const RankOptions& options = {}) {
  return find_launch_config(options, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

// What the user reads; empty: nothing was refused.
std::string refusal(const Variables& variables, const RankOptions& options = {}) {
  try {
    (void)config_in(variables, options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

const Variables kLauncher = {{"RANK", "9"},         {"WORLD_SIZE", "16"},
                             {"LOCAL_RANK", "1"},   {"LOCAL_WORLD_SIZE", "8"},
                             {"MASTER_ADDR", "n0"}, {"MASTER_PORT", "29500"}};

}  // namespace

TEST_CASE("without a launcher there is one rank") {
  CHECK(config_in({}) == LaunchConfig{});
}

TEST_CASE("the launcher's variables set the rank") {
  const LaunchConfig expected{.rank = 9,
                              .world = 16,
                              .local_rank = 1,
                              .local_world = 8,
                              .store = {"n0", 29500},
                              .listening_socket = {},
                              .source = "RANK"};
  CHECK(config_in(kLauncher) == expected);
}

TEST_CASE("options set the rank, and a local rendezvous means that all ranks are on this machine") {
  const LaunchConfig far =
      config_in({}, {.rank = 3, .world_size = 4, .local_rank = 1, .rendezvous = "node0:29500"});
  CHECK(far == LaunchConfig{.rank = 3,
                            .world = 4,
                            .local_rank = 1,
                            .store = {"node0", 29500},
                            .listening_socket = {},
                            .source = "options"});
  const LaunchConfig near =
      config_in({}, {.rank = 1, .world_size = 4, .rendezvous = "localhost:29500"});
  CHECK(near.local_rank == 1);
  CHECK(near.local_world == 4);
}

TEST_CASE("options that do not name one rank are refused with what is missing") {
  CHECK_THAT(refusal({}, {.rank = 1}), Catch::Contains("found --rank without --world-size"));
  CHECK_THAT(refusal({}, {.rank = 4, .world_size = 4}), Catch::Contains("rank 4 of 4 ranks"));
  CHECK_THAT(refusal({}, {.rank = 0, .world_size = 2}), Catch::Contains("found no meeting point"));
  CHECK_THAT(refusal({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "n0"}}),
             Catch::Contains("but not MASTER_PORT"));
  CHECK_THAT(refusal(kLauncher, {.rank = 8}), Catch::Contains("--rank 8 contradicts RANK=9"));
  CHECK_THAT(refusal({{"RANK", "first"}, {"WORLD_SIZE", "2"}}), Catch::Contains("RANK=first"));
}

TEST_CASE("srun and mpirun give the rank, srun a place to meet as well") {
  Variables step = {{"SLURM_JOB_ID", "7"},          {"SLURM_STEP_ID", "0"},
                    {"SLURM_STEP_NUM_TASKS", "16"}, {"SLURM_PROCID", "3"},
                    {"SLURM_LOCALID", "3"},         {"SLURM_STEP_TASKS_PER_NODE", "8(x2)"},
                    {"SLURM_NODEID", "0"},          {"SLURM_STEP_NODELIST", "node[3-4]"}};
  const LaunchConfig launch = config_in(step);
  CHECK(describe(launch) ==
        "rank 3 of 16 by Slurm, 3 of 8 on this machine; rank 0 is at node3:20217");
  CHECK(config_in(step, {.rendezvous = "other:29500"}).store == HostPort{"other", 29500});
  CHECK(config_in(step, {.rank = 0, .world_size = 1}).world == 1);
  step.insert({{"MASTER_ADDR", "n0"}, {"MASTER_PORT", "29500"}});
  CHECK(config_in(step).store == HostPort{"n0", 29500});
  CHECK(config_in(step, {.rendezvous = "slurm"}).store == HostPort{"node3", 20217});
  step.insert(kLauncher.begin(), kLauncher.end());
  CHECK(config_in(step).rank == 9);

  Variables mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                   {"OMPI_COMM_WORLD_SIZE", "2"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  CHECK_THAT(refusal(mpi), Catch::StartsWith("rank 1 of 2 (Open MPI): found no meeting point"));
  const LaunchConfig by_mpi = config_in(mpi, {.rendezvous = "n0:29500"});
  CHECK(by_mpi.rank == 1);
  CHECK(by_mpi.local_world == 2);
}

TEST_CASE("IPv6 addresses have brackets or none") {
  Variables launcher = kLauncher;
  for (const char* host : {"::1", "[::1]"}) {
    launcher["MASTER_ADDR"] = host;
    CHECK(config_in(launcher).store == HostPort{"::1", 29500});
  }
  const RankOptions options{.rank = 0, .world_size = 2, .rendezvous = "[::1]:29611"};
  CHECK(config_in({}, options).store == HostPort{"::1", 29611});
}

TEST_CASE("one of several processes without a rank does not train alone") {
  CHECK_FALSE(refusal({{"WORLD_SIZE", "2"}}).empty());
  CHECK_FALSE(refusal({{"SLURM_STEP_NUM_TASKS", "16"}}).empty());
  CHECK(refusal({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "16"}}).empty());  // a batch shell
  CHECK(refusal({{"WORLD_SIZE", "2"}}, {.rank = 0, .world_size = 1}).empty());
}
