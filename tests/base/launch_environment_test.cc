// Which rank a process is, from the variables of launchers; and lists of hosts.
#include "base/launch_environment.h"

#include <map>

#include "base/error.h"
#include "base/real_file_system.h"
#include "base/slurm_hosts.h"
#include "base/text.h"
#include "catch.h"

using namespace odb;

namespace {

using Variables = std::map<std::string, std::string>;

Environment environment_of(const Variables& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

std::optional<RankPlace> place_in(const Variables& variables) {
  return find_rank_place(environment_of(variables));
}

std::string refusal(const Variables& variables) {
  try {
    (void)place_in(variables);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string text_of(const std::string& file) {
  RealFileSystem files;
  return files.read_all(ODB_TESTS_FOLDER "/cases/slurm/" + file);
}

Variables variables_of(const std::string& file) {
  Variables variables;
  const std::string text = text_of(file);
  for (const std::string_view line : split_lines(text)) {
    const std::size_t equals = line.find('=');
    if (equals != line.npos)
      variables.emplace(std::string(line.substr(0, equals)), std::string(line.substr(equals + 1)));
  }
  REQUIRE_FALSE(variables.empty());
  return variables;
}

}  // namespace

TEST_CASE("launch environment: the variables of Slurm, as it sets them") {
  CHECK(place_in(variables_of("env_01_srun_4_tasks.env")) ==
        RankPlace{.source = "Slurm", .rank = 3, .world = 4, .local_rank = 1, .local_world = 2});
  const Variables batch_shell = variables_of("env_02_batch_shell_no_step.env");
  CHECK_FALSE(place_in(batch_shell));
  CHECK_THAT(batch_shell_notice(environment_of(batch_shell)),
             Catch::Contains("the job has 4 tasks; start the ranks with srun"));
  CHECK(place_in(variables_of("env_03_ntasks_missing.env")) ==
        RankPlace{.source = "Slurm", .rank = 2, .world = 4, .local_rank = 0, .local_world = 2});
  CHECK(place_in(variables_of("env_04_uneven_tasks_per_node.env")) ==
        RankPlace{.source = "Slurm", .rank = 2, .world = 3, .local_rank = 0, .local_world = 1});
  const auto shell = place_in(variables_of("env_05_interactive_pty.env"));
  REQUIRE(shell);
  CHECK(shell->world == 1);
  const Variables small_step = variables_of("env_06_step_smaller_than_job.env");
  CHECK(place_in(small_step) ==
        RankPlace{.source = "Slurm", .rank = 1, .world = 2, .local_rank = 1, .local_world = 2});
  CHECK(slurm_rendezvous(environment_of(small_step))->host == "node002");
  CHECK_THAT(refusal(variables_of("env_07_procid_out_of_range.env")),
             Catch::Contains("SLURM_PROCID=2 with the number of tasks=2"));
}

TEST_CASE("launch environment: tasks per node in Slurm's short form") {
  Variables step = variables_of("env_01_srun_4_tasks.env");
  step.erase("SLURM_NTASKS_PER_NODE");
  step["SLURM_STEP_TASKS_PER_NODE"] = "2(x3),5,1(x2)";
  const std::pair<int, int> expected[] = {{0, 2}, {2, 2}, {3, 5}, {4, 1}, {5, 1}};
  for (const auto& [node, tasks] : expected) {
    step["SLURM_NODEID"] = std::to_string(node);
    step["SLURM_LOCALID"] = "0";
    CHECK(place_in(step)->local_world == tasks);
  }
  step["SLURM_NODEID"] = "6";
  CHECK_FALSE(place_in(step)->local_world);
}

TEST_CASE("launch environment: every launcher, and which one decides") {
  const Variables slurm = variables_of("env_01_srun_4_tasks.env");
  const std::pair<std::string, Variables> launchers[] = {
      {"RANK",
       {{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"}}},
      {"Open MPI",
       {{"OMPI_COMM_WORLD_RANK", "5"},
        {"OMPI_COMM_WORLD_SIZE", "8"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
        {"PMIX_RANK", "5"}}},
      {"MVAPICH",
       {{"MV2_COMM_WORLD_RANK", "5"},
        {"MV2_COMM_WORLD_SIZE", "8"},
        {"MV2_COMM_WORLD_LOCAL_RANK", "1"},
        {"MV2_COMM_WORLD_LOCAL_SIZE", "4"}}},
      {"PMI",
       {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "4"}}}};
  for (const auto& [source, variables] : launchers) {
    Variables with_slurm = variables;
    with_slurm.insert(slurm.begin(), slurm.end());
    const RankPlace expected{
        .source = source, .rank = 5, .world = 8, .local_rank = 1, .local_world = 4};
    CHECK(place_in(variables) == expected);
    CHECK(place_in(with_slurm) == expected);
  }
  CHECK_FALSE(place_in({}));
}

TEST_CASE("launch environment: half of the variables is refused by name") {
  CHECK_THAT(refusal({{"WORLD_SIZE", "2"}, {"MASTER_ADDR", "n0"}, {"MASTER_PORT", "29500"}}),
             Catch::StartsWith("the environment has WORLD_SIZE=2, but not RANK"));
  CHECK_THAT(refusal({{"RANK", "1"}}),
             Catch::StartsWith("the environment has RANK=1, but not WORLD_SIZE"));
  CHECK_THAT(refusal({{"LOCAL_RANK", "1"}}),
             Catch::StartsWith("the environment has LOCAL_RANK=1, but not RANK"));
  CHECK_THAT(refusal({{"OMPI_COMM_WORLD_SIZE", "2"}}), Catch::Contains("OMPI_COMM_WORLD_RANK"));
  CHECK_THAT(refusal({{"PMI_RANK", "1"}}), Catch::Contains("PMI_SIZE"));
  CHECK_THAT(refusal({{"MV2_COMM_WORLD_RANK", "1"}}), Catch::Contains("MV2_COMM_WORLD_SIZE"));
  CHECK_THAT(refusal({{"PMIX_RANK", "3"}}), Catch::Contains("PMIX_RANK=3"));
  CHECK_THAT(refusal({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "1"}}),
             Catch::Contains("SLURM_STEP_NUM_TASKS"));
  CHECK_THAT(refusal({{"RANK", "first"}, {"WORLD_SIZE", "2"}}), Catch::Contains("RANK=first"));
  CHECK_THAT(refusal({{"RANK", "2"}, {"WORLD_SIZE", "2"}}),
             Catch::Contains("RANK=2 with WORLD_SIZE=2"));
  CHECK_THAT(
      refusal({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_RANK", "2"}, {"LOCAL_WORLD_SIZE", "2"}}),
      Catch::Contains("local rank 2 of 2"));
}

TEST_CASE("launch environment: jobs meet at ports of their own") {
  Variables step = variables_of("env_01_srun_4_tasks.env");
  const auto address = slurm_rendezvous(environment_of(step));
  REQUIRE(address);
  CHECK(address->host == "node001");
  CHECK(address->port == 20000 + 4711 * 31 % 10000);
  step["SLURM_RESTART_COUNT"] = "1";
  CHECK(slurm_rendezvous(environment_of(step))->port == address->port + 1);
  step["SLURM_STEP_ID"] = "1";
  CHECK(slurm_rendezvous(environment_of(step))->port == address->port + 8);
  step["SLURM_JOB_ID"] = "4294967295";
  const std::uint16_t port = slurm_rendezvous(environment_of(step))->port;
  CHECK(port >= kFirstSlurmPort);
  CHECK(port <= kLastSlurmPort);
  CHECK_FALSE(slurm_rendezvous(environment_of({})));
}

TEST_CASE("lists of hosts: the first one, and how many there are") {
  int lists = 0;
  const std::string text = text_of("nodelists.tsv");
  for (const std::string_view line : split_lines(text)) {
    if (line.starts_with('#')) continue;
    const auto fields = split(line, '\t');
    REQUIRE(fields.size() == 3);
    INFO(line);
    ++lists;
    if (fields[1] == "ERROR")
      CHECK_THROWS_WITH(parse_host_list(fields[0]), Catch::Contains("cannot be read at character"));
    else
      CHECK(parse_host_list(fields[0]) ==
            HostList{.first = std::string(fields[1]),
                     .count = *parse_integer<std::int64_t>(fields[2])});
  }
  CHECK(lists == 16);
  for (const char* wrong : {"a,,b", "a b", "n[1-99999999999]", "n[1-9999999][1-9999999]", "n[1]]"})
    CHECK_THROWS_AS(parse_host_list(wrong), UsageError);
}
