#include "train/training_run.h"

#include <algorithm>

#include <ATen/Parallel.h>

#include "base/descriptor_limit.h"
#include "base/error.h"
#include "base/launch_environment.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/real_file_system.h"
#include "base/signals.h"
#include "data/loader/processes/data_processes.h"
#include "dist/gloo_membership.h"
#include "model/cpu/caching_allocator.h"
#include "model/layers/linear.h"
#include "train/rank_run.h"
#include "train/session/foreign_error.h"
#include "train/session/process_end.h"
#include "train/session/rendezvous.h"
#include "train/session/stop_check.h"
#include "train/training_inputs.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

// --threads, or this rank's share of the processors it may use.
int threads_of(FileSystem& files, const RankOptions& options, const LaunchConfig& launch) {
  if (options.threads) return static_cast<int>(*options.threads);
  const int usable = usable_processors(read_machine(files, process_environment, "").processors);
  return std::max(1, usable / launch.local_world);
}

// What `make` creates. If that fails, the other ranks do not wait for this one in vain.
template <typename Make>
auto make_or_report(const LaunchConfig& launch, const RunOptions& options, Make make) {
  try {
    return make();
  } catch (const Error& error) {
    report_early_failure(launch, options.ranks.timeout, error);
    throw;
  } catch (const std::exception& other) {
    const Error error = named_error(other, "this machine", "preparing");
    report_early_failure(launch, options.ranks.timeout, error);
    throw error;
  }
}

int prepare_and_run(const RunOptions& options, const std::string& config,
                    const LaunchConfig& launch, Clock::time_point process_start) {
  RealFileSystem files;
  TrainingInputs inputs = make_or_report(launch, options, [&] {
    require_descriptors(launch.rank, launch.world);
    TrainingInputs prepared = prepare_training(files, options, launch);
    throw_if_stop_requested();
    return prepared;
  });
  if (launch.world > 1)
    inputs.loaders.front().membership =
        membership_over_gloo({.prefix = "align/",
                              .network = options.ranks.network,
                              .rank = launch.rank,
                              .world = launch.world,
                              .connect_timeout = options.ranks.timeout});
  DataProcesses processes =
      make_or_report(launch, options, [&] { return DataProcesses(inputs.loaders); });
  // From here on LibTorch, and threads.
  enable_caching_allocator();
  limit_onednn_cache();
  ProcessEnd end;
  at::set_num_threads(threads_of(files, options.ranks, launch));
  return run_rank(files, inputs, processes, end, config, process_start);
}

}  // namespace

int run_training(const RunOptions& options, const std::string& config,
                 Clock::time_point process_start) {
  const LaunchConfig launch = find_launch_config(options.ranks, process_environment);
  start_log({.rank = launch.world > 1 ? launch.rank : -1, .role = "trainer"});
  if (launch.world > 1) log("train").info("{}", describe(launch));
  if (const std::string notice = batch_shell_notice(process_environment);
      launch.world == 1 && !notice.empty())
    log("train").warn("{}", notice);
  ScopedStopSignals signals;
  signals.keep();
  try {
    return prepare_and_run(options, config, launch, process_start);
  } catch (const StoppedBeforeTraining& stop) {
    log("train").info("{}", stop.what());
    return static_cast<int>(stop.code());
  }
}

}  // namespace odb
