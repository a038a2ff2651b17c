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
  const LaunchConfig expected{
      .rank = 9, .world = 16, .local_rank = 1, .local_world = 8, .store = {"n0", 29500}};
  CHECK(config_in(kLauncher) == expected);
}

TEST_CASE("options set the rank, and a local rendezvous means that all ranks are on this machine") {
  const LaunchConfig far =
      config_in({}, {.rank = 3, .world_size = 4, .local_rank = 1, .rendezvous = "node0:29500"});
  CHECK(far == LaunchConfig{.rank = 3, .world = 4, .local_rank = 1, .store = {"node0", 29500}});
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
             Catch::Contains("not MASTER_PORT"));
  CHECK_THAT(refusal(kLauncher, {.rank = 8}), Catch::Contains("--rank 8 contradicts RANK=9"));
  CHECK_THAT(refusal({{"RANK", "first"}, {"WORLD_SIZE", "2"}}), Catch::Contains("RANK=first"));
}

TEST_CASE("one of several processes without a rank does not train alone") {
  const Variables step = {{"SLURM_STEP_NUM_TASKS", "16"}, {"SLURM_PROCID", "3"}};
  CHECK_THAT(refusal(step),
             Catch::StartsWith("this is one of 16 processes (SLURM_STEP_NUM_TASKS)"));
  CHECK_THAT(refusal({{"OMPI_COMM_WORLD_SIZE", "2"}}), Catch::StartsWith("this is one of 2 "));
  CHECK(refusal({{"SLURM_STEP_NUM_TASKS", "1"}}).empty());
  CHECK(refusal(step, {.rank = 0, .world_size = 1}).empty());
  Variables launched = kLauncher;
  launched.insert(step.begin(), step.end());
  CHECK(config_in(launched).rank == 9);
}
