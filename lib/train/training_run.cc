#include "train/training_run.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <utility>

#include <ATen/Parallel.h>

#include "base/error.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/real_file_system.h"
#include "base/signals.h"
#include "data/inspect/show_sample.h"
#include "data/loader/data_processes.h"
#include "dist/gloo_membership.h"
#include "dist/replicas.h"
#include "dist/sums.h"
#include "model/cpu/caching_allocator.h"
#include "model/init.h"
#include "model/layers/linear.h"
#include "model/weights_io.h"
#include "train/input_facts.h"
#include "train/output/checkpoint.h"
#include "train/output/checkpoint_space.h"
#include "train/output/run_records.h"
#include "train/session/foreign_error.h"
#include "train/session/leave_now_watch.h"
#include "train/session/rendezvous.h"
#include "train/session/stop_check.h"
#include "train/session/stop_notice.h"
#include "train/step/device.h"
#include "train/step/evaluation_schedule.h"
#include "train/step/seconds_since.h"
#include "train/step/training_loop.h"
#include "train/training_inputs.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

BackendChoice backend_choice(const std::string& name) {
  if (name == "gloo") return BackendChoice::gloo;
  return name == "nccl" ? BackendChoice::nccl : BackendChoice::automatic;
}

void show_start(const TrainingInputs& inputs, const std::string& config) {
  log("train").info("the options of this run:\n{}", config);
  log("data").info("the first sample, {} tokens, {} of them supervised (marked):\n{}",
                   inputs.first_sample.tokens.size(), inputs.first_sample.supervised,
                   show_sample(inputs.first_sample, inputs.source->preprocessor().tokenizer(),
                               Highlight::marks));
  const std::string warning = why_nothing_is_learned(inputs.options.optimizer, inputs.limits);
  if (!warning.empty()) log("train").warn("{}", warning);
}

Error error_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error;
  }
}

class TrainingRun {
 public:
  TrainingRun(FileSystem& files, TrainingInputs& inputs, DataProcesses& processes,
              Clock::time_point process_start)
      : files_(files), inputs_(inputs), processes_(processes), process_start_(process_start) {}

  int run(const std::string& config) {
    rendezvous_.emplace(inputs_.launch, options().ranks.timeout);
    int code = 0;
    try {
      meet();
      device_ = choose_device(options().ranks.device, inputs_.launch.local_rank);
      require_backend(backend_choice(options().ranks.backend), device_);
      require_memory(inputs_, free_memory(device_), device_.str());
      open(config);
      rendezvous_->compare_inputs(input_facts(inputs_),
                                  options().ranks.mixed_devices ? "" : device_name(device_));
      if (rank() == 0) show_start(inputs_, config);
      acknowledge_stops();
      join();
      load();
      code = train();
      leave();
    } catch (const Error& error) {
      fail(error);
      throw;
    } catch (const std::exception& other) {
      const Error error = named_error(other, device_.str(), phase_.load());
      fail(error);
      throw error;
    }
    if (failure_) std::rethrow_exception(failure_);
    return code;
  }

 private:
  const RunOptions& options() const { return inputs_.options; }
  int rank() const { return inputs_.launch.rank; }
  int world() const { return inputs_.launch.world; }

  void meet();
  void open(const std::string& config);
  void acknowledge_stops();
  void join();
  void load();
  int train();
  void leave();
  void fail(const Error& error);

  LoopEvents events();
  bool between_steps(const Progress& progress);
  bool evaluate(const RunTotals& totals);
  std::string save(const TrainingLoop& loop);
  std::vector<torch::Tensor> parameters() const { return model_->parameters(); }

  FileSystem& files_;
  TrainingInputs& inputs_;
  DataProcesses& processes_;
  Clock::time_point process_start_;
  std::atomic<const char*> phase_{"starting"};
  std::atomic<bool> recording_{false};  // this rank records how its life ends
  std::binary_semaphore recorded_{0};   // the end of this life, by an error

  // In order of creation; destroyed in reverse order.
  std::optional<Rendezvous> rendezvous_;
  std::unique_ptr<RunFolder> folder_;  // rank 0
  RunPaths paths_;
  DataState start_;
  torch::Device device_{torch::kCPU};
  std::optional<TrainingGroups> groups_;
  std::optional<StopRequest> stop_;
  std::unique_ptr<RunRecords> records_;
  std::int64_t life_ = 0;
  std::optional<LanguageModel> model_;
  std::optional<Optimizer> optimizer_;
  std::optional<GradientReducer> reducer_;
  std::optional<Evaluator> evaluator_;
  std::optional<BestEvaluation> best_;
  std::exception_ptr failure_;             // equal on all ranks: they leave together
  RunTotals before_;                       // at the last boundary between steps
  std::optional<std::int64_t> evaluated_;  // step
  std::optional<StopNotice> stop_notice_;
};

// Collate learns where the ranks meet, and the ranks watch each other from here on.
void TrainingRun::meet() {
  const LoaderSetup& loader = inputs_.loaders.front();
  start_.start = start_of_epoch(loader.epoch(0), rank(), world());
  processes_.pipeline(0).start(
      {.state = start_, .store_address = to_text(rendezvous_->store().address())});
  const auto phase = [this] {
    return fmt::format("{}, collate {}", phase_.load(), processes_.pipeline(0).phase());
  };
  // The end of a peer breaks this rank's connections, too; it records how its own life ends
  // meanwhile.
  const auto before_end = [this](const LostPeer& peer) {
    constexpr std::chrono::seconds kRecording{5};
    if (recording_ && peer.ended) (void)recorded_.try_acquire_for(kRecording);
  };
  rendezvous_->start_heartbeat(phase, before_end);
}

// Rank 0 takes the run's folder, if it has room for a checkpoint.
void TrainingRun::open(const std::string& config) {
  paths_ = RunPaths{options().files.output};
  if (rank() != 0) return rendezvous_->await_config(config);
  const bool overwrite = options().files.overwrite;
  require_space(
      files_, paths_.folder, overwrite,
      checkpoint_bytes(static_cast<std::uint64_t>(inputs_.memory.weights), options().optimizer));
  const auto existing = overwrite ? ExistingRun::overwrite : ExistingRun::refuse;
  folder_ = std::make_unique<RunFolder>(files_, paths_.folder, existing, config);
  rendezvous_->publish_config(config);
}

// Once per run, by rank 0, and by a rank that was started by hand in a terminal of its own. Before
// this point, a stop ends the start, which reports it itself.
void TrainingRun::acknowledge_stops() {
  if (rank() == 0 || ::isatty(STDERR_FILENO) == 1)
    stop_notice_.emplace([this] { return phase_.load(); });
}

void TrainingRun::join() {
  const RankOptions& ranks = options().ranks;
  phase_ = "joining";
  groups_.emplace(rendezvous_->store(),
                  TrainingGroupsOptions{.prefix = "train/",
                                        .network = ranks.network,
                                        .rank = rank(),
                                        .world = world(),
                                        .device = device_,
                                        .backend = backend_choice(ranks.backend),
                                        .connect_timeout = ranks.timeout});
  const auto& limit = options().length.time_limit;
  stop_.emplace(rendezvous_->store(),
                limit ? std::optional(process_start_ + *limit) : std::nullopt);
  records_ = std::make_unique<RunRecords>(
      files_, RunRecordsOptions{.paths = paths_,
                                .life = life_,
                                .rank = rank(),
                                .world = world(),
                                .data_size = inputs_.limits.data_size,
                                .learning_rate = options().optimizer.lr,
                                .log_every = options().logging.log_every,
                                .console = options().logging.console,
                                .process_start = process_start_,
                                .peak_memory = [this] { return peak_memory(device_); }});
  recording_ = rank() == 0;
}

// Rank 0's weights on all ranks.
void TrainingRun::load() {
  phase_ = "loading the model";
  const ModelOptions& model = options().model;
  model_.emplace(inputs_.config, ComputeOptions{.dtype = model.dtype, .recompute = model.recompute},
                 device_);
  if (model.init == Initialization::random) {
    initialize_weights(*model_, options().loader.seed);
  } else if (rank() == 0) {
    load_weights(files_, model.model, *model_);
    require_finite(*model_, model.model);
  }
  if (world() > 1) {
    const auto tensors = parameters();
    broadcast_from_first(*groups_, tensors);
    check_replicas_equal(*groups_, tensors, "at the start");
  }
  reducer_.emplace(*groups_, parameters());
  optimizer_.emplace(options().optimizer, model_->weights());
  if (!inputs_.evaluation.empty())
    evaluator_.emplace(processes_, 1, options().evaluation.eval_data, loss_of(*model_), device_,
                       *groups_, *stop_);
}

LoopEvents TrainingRun::events() {
  return {
      .stop_asked = [this] { return stop_->here(); },
      .on_finished = [this](const FinishedStep& step) { records_->on_finished(step); },
      .on_measured = [this](const StepMeasure& measure,
                            const Progress& progress) { records_->on_measured(measure, progress); },
      .between_steps = [this](const Progress& progress) { return between_steps(progress); }};
}

bool TrainingRun::between_steps(const Progress& progress) {
  const RunTotals before = std::exchange(before_, progress.totals());
  const std::int64_t every = options().logging.check_every;
  const std::int64_t step = progress.totals().steps;
  if (world() > 1 && every > 0 && step % every == 0 && step != before.steps)
    check_replicas_equal(*groups_, parameters(), fmt::format("after step {}", step));
  if (!evaluator_ || !evaluation_due(options().evaluation, before, progress, evaluated_))
    return true;
  return evaluate(progress.totals());
}

// False: stopped.
bool TrainingRun::evaluate(const RunTotals& totals) {
  const char* phase = phase_.exchange("evaluating");
  std::optional<std::vector<EvaluationResult>> results;
  try {
    results = evaluator_->run();
  } catch (const PeerLostError&) {
    throw;
  } catch (const Error&) {
    failure_ = std::current_exception();
  }
  phase_ = phase;
  if (!results) return false;
  records_->on_evaluated(*results, totals);
  best_ = better(best_, {.step = totals.steps, .loss = overall_loss(*results)});
  evaluated_ = totals.steps;
  return true;
}

int TrainingRun::train() {
  const RunOptions& run = options();
  SlotSource slots(processes_.pipeline(0), MicroBatchBuilder(device_, run.batching.loss_norm));
  ControlChannel control(*groups_);
  TrainingStep step(
      loss_of(*model_), model_->weights(), *groups_, *reducer_, *optimizer_,
      {.loss_norm = run.batching.loss_norm, .max_grad_norm = run.optimizer.max_grad_norm});
  TrainingLoop loop({.loss_norm = run.batching.loss_norm,
                     .l_max = run.batching.l_max,
                     .join = run.batching.join,
                     .keeps_budget = keeps_budget(run.batching.strategy),
                     .rank = rank(),
                     .world = world(),
                     .learning_rate = run.optimizer.lr,
                     .schedule = schedule_shape(run.optimizer),
                     .on_nan = run.optimizer.on_nan,
                     .max_nan_steps = run.optimizer.nan_step_limit()},
                    slots, control, step, Progress(inputs_.limits), start_, events());
  const auto before = Clock::now();
  if (evaluator_ && run.evaluation.eval_at_start) evaluate({});
  phase_ = "training";
  records_->on_start(seconds_since(before));
  LoopEnd end{.stopped = failure_ != nullptr, .failure = failure_};
  if (!failure_) end = loop.run();
  if (end.failure) failure_ = end.failure;
  if (!end.stopped && evaluator_ &&
      evaluation_due(run.evaluation, before_, loop.progress(), evaluated_))
    end.stopped = !evaluate(loop.progress().totals());
  phase_ = "saving";
  const std::string path = save(loop);
  ExitCode code = end.stopped ? ExitCode::saved : ExitCode::done;
  std::string reason = end.stopped ? stop_->reason() : "done: " + loop.progress().reached();
  if (failure_) {
    const Error error = error_of(failure_);
    code = error.code();
    reason = error.what();
  }
  records_->finish(loop.progress(), loop.seconds(), reason, static_cast<int>(code));
  if (rank() == 0) log("train").info("{}", failure_ ? path : reason + "; " + path);
  return static_cast<int>(code);
}

std::string TrainingRun::save(const TrainingLoop& loop) {
  const RunTotals& totals = loop.progress().totals();
  records_->sync();
  if (totals.steps == 0) return "no step was finished, nothing to save";
  const RunOptions& run = options();
  const std::string fingerprint = options_fingerprint(run.batching);
  return "saved " + save_checkpoint(files_, paths_, *groups_,
                                    {.config = inputs_.config,
                                     .weights = model_->weights(),
                                     .optimizer = *optimizer_,
                                     .run = {.totals = totals,
                                             .best = best_,
                                             .world_size = world(),
                                             .seed = run.loader.seed,
                                             .data_size = inputs_.limits.data_size,
                                             .life = life_,
                                             .options = fingerprint},
                                     .data = {.owner = {.rank = rank(),
                                                        .world = world(),
                                                        .seed = run.loader.seed,
                                                        .data_size = inputs_.limits.data_size,
                                                        .options = fingerprint},
                                              .state = loop.state()},
                                     .auxiliary_files = run.data.tokenizer,
                                     .model = run.model.model});
}

void TrainingRun::leave() {
  if (stop_notice_) stop_notice_->end();
  phase_ = "leaving";
  await_all_ranks(*groups_);
  processes_.stop();
  rendezvous_->leave();
}

// Reports the error to the other ranks and records it. If it came from another rank, throws that
// one's error. Others may be in a collective, which ends when the groups do.
void TrainingRun::fail(const Error& error) {
  if (stop_notice_) stop_notice_->end();
  rendezvous_->publish_failure(error);
  if (records_) records_->fail(error);
  recorded_.release();
  evaluator_.reset();
  reducer_.reset();
  groups_.reset();
  rendezvous_->await_cause(error);
}

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
  } catch (const StoppedBeforeTraining&) {
    throw;
  } catch (const Error& error) {
    report_early_failure(launch, options.ranks.timeout, error);
    throw;
  } catch (const std::exception& other) {
    const Error error = named_error(other, "this machine", "preparing");
    report_early_failure(launch, options.ranks.timeout, error);
    throw error;
  }
}

int run_rank(const RunOptions& options, const std::string& config, const LaunchConfig& launch,
             Clock::time_point process_start) {
  RealFileSystem files;
  TrainingInputs inputs =
      make_or_report(launch, options, [&] { return prepare_training(files, options, launch); });
  throw_if_stop_requested();
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
  const LeaveNowWatch watch;
  at::set_num_threads(threads_of(files, options.ranks, launch));
  TrainingRun run(files, inputs, processes, process_start);
  return run.run(config);
}

}  // namespace

int run_training(const RunOptions& options, const std::string& config,
                 Clock::time_point process_start) {
  const LaunchConfig launch = find_launch_config(options.ranks, process_environment);
  start_log({.rank = launch.world > 1 ? launch.rank : -1, .role = "trainer"});
  ScopedStopSignals signals;
  signals.keep();
  try {
    return run_rank(options, config, launch, process_start);
  } catch (const StoppedBeforeTraining& stop) {
    log("train").info("{}", stop.what());
    return static_cast<int>(stop.code());
  }
}

}  // namespace odb
