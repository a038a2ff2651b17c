#include "doctor/launch_checks.h"

#include <cstdint>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/launch_environment.h"

namespace odb {
namespace {

std::string program_text(const LaunchFacts& launch, const std::string& name) {
  const auto found = launch.programs.find(name);
  return found == launch.programs.end() ? fmt::format("no {} on PATH", name) : found->second;
}

std::string variables_text(const LaunchFacts& launch, const std::vector<std::string>& prefixes) {
  std::string text;
  for (const auto& [name, value] : launch.environment)
    for (const std::string& prefix : prefixes)
      if (name.starts_with(prefix))
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

Check check_slurm(const LaunchFacts& launch) {
  const std::string job = variables_text(launch, {"SLURM_"});
  Check check{.name = "Slurm",
              .found = fmt::format("{}; {}; {}", job.empty() ? "not inside a job" : job,
                                   program_text(launch, "srun"), program_text(launch, "sinfo"))};
  if (!job.empty() && !launch.programs.contains("srun")) {
    check.status = CheckStatus::warn;
    check.advice =
        "ranks are started with srun: add its folder to PATH (or bind it into the container)";
  }
  return check;
}

Check check_mpi(const LaunchFacts& launch) {
  const std::string ranks = variables_text(launch, {"OMPI_", "PMI_", "PMIX_"});
  return {.name = "MPI",
          .found = fmt::format("{}; {}", ranks.empty() ? "not started by MPI" : ranks,
                               program_text(launch, "mpirun"))};
}

// As training reads them.
Check check_launch_variables(const LaunchFacts& launch) {
  const Environment environment = [&launch](const std::string& name) {
    const auto found = launch.environment.find(name);
    return found == launch.environment.end() ? std::nullopt : std::optional(found->second);
  };
  Check check{.name = "rank variables"};
  try {
    const auto place = find_rank_place(environment);
    check.found = place
                      ? fmt::format("rank {} of {} ({})", place->rank, place->world, place->source)
                      : "none set";
    check.advice = batch_shell_notice(environment);
    if (place && place->world > 1 && !slurm_rendezvous(environment))
      for (const char* name : {"MASTER_ADDR", "MASTER_PORT"})
        if (!environment(name))
          check.advice = fmt::format(
              "{} is missing: ranks meet at MASTER_ADDR and MASTER_PORT of rank 0; or give "
              "--rendezvous HOST:PORT",
              name);
  } catch (const UsageError& error) {
    check.found = variables_text(launch, {"RANK", "WORLD_SIZE", "LOCAL_RANK", "OMPI_", "MV2_",
                                          "PMI_", "PMIX_", "SLURM_STEP"});
    check.advice = error.what();
  }
  if (!check.advice.empty()) check.status = CheckStatus::warn;
  return check;
}

// "2 x NVIDIA H200, 1 x NVIDIA L4".
std::string models_text(const std::vector<std::string>& models) {
  std::map<std::string, int> counts;
  for (const std::string& model : models)
    ++counts[model.empty() ? "unnamed GPU" : model];
  std::string text;
  for (const auto& [model, count] : counts)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, model);
  return text;
}

Check check_gpus(const GpuFacts& gpus, const LaunchFacts& launch) {
  Check check{.name = "GPUs"};
  if (gpus.driver.empty() && gpus.models.empty()) {
    check.found = "none: no NVIDIA driver in the kernel (training on CPU works)";
    return check;
  }
  check.found = fmt::format("{}; driver {}; {} device files; {}",
                            gpus.models.empty() ? "none" : models_text(gpus.models),
                            gpus.driver.empty() ? "unknown" : gpus.driver, gpus.device_files,
                            program_text(launch, "nvidia-smi"));
  if (!gpus.models.empty() && gpus.device_files == 0) {
    check.status = CheckStatus::warn;
    check.advice =
        "the kernel has GPUs that this process may not use: ask for them (Slurm: --gres=gpu:N; "
        "containers: --gpus all)";
  } else if (gpus.models.empty()) {
    check.status = CheckStatus::warn;
    check.advice = "the driver sees no GPU: look for its messages in the system log (dmesg)";
  }
  return check;
}

}  // namespace

std::vector<Check> check_launch(const MachineFacts& facts) {
  return {check_slurm(facts.launch), check_mpi(facts.launch), check_launch_variables(facts.launch),
          check_gpus(facts.gpus, facts.launch)};
}

}  // namespace odb
