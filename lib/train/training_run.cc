#include "train/training_run.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include <ATen/Parallel.h>

#include "base/error.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/real_file_system.h"
#include "base/signals.h"
#include "data/inspect/show_sample.h"
#include "data/processes/data_processes.h"
#include "dist/gloo_membership.h"
#include "dist/rank_heartbeat.h"
#include "dist/replicas.h"
#include "dist/sums.h"
#include "model/init.h"
#include "model/kept_memory.h"
#include "model/linear.h"
#include "model/weights_io.h"
#include "train/checkpoint.h"
#include "train/device.h"
#include "train/evaluation_schedule.h"
#include "train/failure_board.h"
#include "train/input_facts.h"
#include "train/leave_now_watch.h"
#include "train/run_records.h"
#include "train/same_options.h"
#include "train/training_inputs.h"
#include "train/training_loop.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

// What ranks tell each other before the groups are there.
constexpr const char* kOpened = "run/opened";    // rank 0's folder: "yes", or "no" with a failure
constexpr const char* kOptions = "run/options";  // rank 0's
constexpr const char* kInputs = "run/inputs";    // what rank 0 reads
constexpr const char* kAlike = "run/alike";      // how many ranks read the same
constexpr const char* kAllAlike = "run/all-alike";  // "yes", or "no" with a failure
constexpr const char* kLeft = "run/left";
constexpr const char* kAllLeft = "run/all-left";

BackendChoice backend_choice(const std::string& name) {
  if (name == "gloo") return BackendChoice::gloo;
  return name == "nccl" ? BackendChoice::nccl : BackendChoice::automatic;
}

void show_start(const TrainingInputs& inputs, const std::string& config) {
  log("train").info("the options of this run:\n{}", config);
  log("data").info(
      "the first sample, {} tokens, {} of them supervised (set off):\n{}",
      inputs.first_sample.tokens.size(), inputs.first_sample.supervised,
      show_sample(inputs.first_sample, inputs.source->making().tokenizer(), Highlight::marks));
}

ExitCode code_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error.code();
  }
}

std::string reason_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error.what();
  }
}

class TrainingRun {
 public:
  TrainingRun(FileSystem& files, TrainingInputs& inputs, DataProcesses& processes,
              Clock::time_point process_start)
      : files_(files), inputs_(inputs), processes_(processes), process_start_(process_start) {}

  int run(const std::string& config) {
    meet();
    int code = 0;
    try {
      device_ = choose_device(options().ranks.device, inputs_.place.local_rank);
      require_memory(inputs_, free_memory(device_), device_.str());
      open(config);
      compare_inputs();
      if (rank() == 0) show_start(inputs_, config);
      join();
      load();
      code = train();
      leave();
    } catch (const Error& error) {
      if (records_) records_->fail(error);
      settle(error);
      throw;
    }
    if (failure_) std::rethrow_exception(failure_);
    return code;
  }

 private:
  const RunOptions& options() const { return inputs_.options; }
  int rank() const { return inputs_.place.rank; }
  int world() const { return inputs_.place.world; }

  void meet();
  void open(const std::string& config);
  void compare_inputs();
  void join();
  void load();
  int train();
  void leave();
  void settle(const Error& error);

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

  // In the order of their making; they go the other way round.
  std::optional<Store> store_;
  std::unique_ptr<Heartbeat> heartbeat_;
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
  std::exception_ptr failure_;             // known to all ranks alike: they leave together
  RunTotals before_;                       // at the last time between steps
  std::optional<std::int64_t> evaluated_;  // step
};

// Ranks find each other, and collate learns where.
void TrainingRun::meet() {
  const LaunchPlace& place = inputs_.place;
  if (place.rank != 0)
    store_ = Store::connect(place.store, options().ranks.timeout);
  else
    store_ = place.listening_socket ? Store::host(place.store, *place.listening_socket)
                                    : Store::host(place.store);
  const LaneSetup& lane = inputs_.lanes.front();
  start_.start = start_of_epoch(lane.epoch(0), rank(), world());
  processes_.pipeline(0).start({.state = start_, .store_address = to_text(store_->address())});
  if (world() == 1) return;
  heartbeat_ = start_heartbeat(store_->address(), rank(), world(), options().ranks.timeout, [this] {
    return fmt::format("{}, collate {}", phase_.load(), processes_.pipeline(0).phase());
  });
}

// Rank 0 takes the run's folder; the others hear whether it could.
void TrainingRun::open(const std::string& config) {
  paths_ = RunPaths{options().files.output};
  if (rank() == 0) {
    const auto existing = options().files.overwrite ? ExistingRun::overwrite : ExistingRun::refuse;
    folder_ = std::make_unique<RunFolder>(files_, paths_.folder, existing, config);
    store_->set(kOptions, config);
    store_->set_once(kOpened, "yes");
    return;
  }
  if (!store_->wait_for(kOpened, options().ranks.timeout))
    throw PeerLostError("rank 0 has not opened the folder of the run within {}",
                        print_duration(options().ranks.timeout));
  if (store_->find(kOpened) != "yes")
    throw OtherRankFailed(ExitCode::peer_lost, "rank 0 cannot go on");
  const std::string different = differing_options(config, store_->find(kOptions).value_or("{}"));
  if (!different.empty())
    throw UsageError("rank {} was started with other options than rank 0: {}", rank(), different);
}

// Views, samples and replicas are those of rank 0 only where its files are. No rank goes on before
// all have looked: one that joined would wait for those that leave.
void TrainingRun::compare_inputs() {
  if (world() == 1) return;
  const auto timeout = options().ranks.timeout;
  const std::string own = input_facts(inputs_);
  if (rank() == 0) store_->set(kInputs, own);
  if (!store_->wait_for(kInputs, timeout))
    throw PeerLostError("rank 0 has not told what it reads within {}", print_duration(timeout));
  const std::string different = differing_options(own, store_->find(kInputs).value_or("{}"));
  if (!different.empty())
    throw UsageError(
        "rank {} reads other files than rank 0: {}; wanted copies of the same files on all "
        "machines",
        rank(), different);
  if (store_->add(kAlike, 1) == world()) store_->set_once(kAllAlike, "yes");
  if (!store_->wait_for(kAllAlike, timeout))
    throw PeerLostError("not all ranks have compared what they read within {}",
                        print_duration(timeout));
  if (store_->find(kAllAlike) != "yes")
    throw OtherRankFailed(ExitCode::peer_lost, "another rank cannot go on");
}

void TrainingRun::join() {
  const RankOptions& ranks = options().ranks;
  phase_ = "joining";
  groups_.emplace(*store_, TrainingGroupsOptions{.prefix = "train/",
                                                 .network = ranks.network,
                                                 .rank = rank(),
                                                 .world = world(),
                                                 .device = device_,
                                                 .backend = backend_choice(ranks.backend),
                                                 .connect_timeout = ranks.timeout});
  const auto& limit = options().length.time_limit;
  stop_.emplace(*store_, limit ? std::optional(process_start_ + *limit) : std::nullopt);
  records_ = std::make_unique<RunRecords>(
      files_, RunRecordsOptions{.paths = paths_,
                                .life = life_,
                                .rank = rank(),
                                .world = world(),
                                .data_size = inputs_.limits.data_size,
                                .log_every = options().look.log_every,
                                .console = options().look.console,
                                .process_start = process_start_,
                                .peak_memory = [this] { return peak_memory(device_); }});
}

// Rank 0's weights on all ranks.
void TrainingRun::load() {
  phase_ = "loading the model";
  const ModelOptions& model = options().model;
  model_.emplace(inputs_.config, ComputeOptions{.dtype = model.dtype, .recompute = model.recompute},
                 device_);
  if (model.init == Initialization::random)
    initialize_weights(*model_, options().loader.seed);
  else if (rank() == 0)
    load_weights(files_, model.model, *model_);
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
  const std::int64_t every = options().look.check_every;
  const std::int64_t step = progress.totals().steps;
  if (every > 0 && step % every == 0 && step != before.steps)
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
  SlotSource slots(processes_.pipeline(0), MicroBatchMaker(device_, run.batching.loss_norm));
  ControlChannel control(*groups_);
  TrainingStep step(loss_of(*model_), model_->weights(), *reducer_, *optimizer_,
                    {.loss_norm = run.batching.loss_norm,
                     .max_grad_norm = run.optimizer.max_grad_norm,
                     .world = world()});
  TrainingLoop loop({.loss_norm = run.batching.loss_norm,
                     .l_max = run.batching.l_max,
                     .join = run.batching.join,
                     .keeps_budget = keeps_budget(run.batching.strategy),
                     .rank = rank(),
                     .world = world(),
                     .learning_rate = run.optimizer.lr,
                     .schedule = schedule_shape(run.optimizer),
                     .on_nan = run.optimizer.on_nan,
                     .most_nan_steps = run.optimizer.most_nan_steps},
                    slots, control, step, Progress(inputs_.limits), start_, events());
  const auto before = Clock::now();
  if (evaluator_ && run.evaluation.eval_at_start) evaluate({});
  phase_ = "training";
  records_->on_start(std::chrono::duration<double>(Clock::now() - before).count());
  LoopEnd end{.stopped = failure_ != nullptr, .failure = failure_};
  if (!failure_) end = loop.run();
  if (end.failure) failure_ = end.failure;
  if (!end.stopped && evaluator_ &&
      evaluation_due(run.evaluation, before_, loop.progress(), evaluated_))
    end.stopped = !evaluate(loop.progress().totals());
  phase_ = "saving";
  const std::string path = save(loop);
  const ExitCode code = failure_      ? code_of(failure_)
                        : end.stopped ? ExitCode::saved
                                      : ExitCode::done;
  const std::string reason = failure_      ? reason_of(failure_)
                             : end.stopped ? stop_->reason()
                                           : "done: " + loop.progress().reached();
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
                                     .companions = run.data.tokenizer,
                                     .model = run.model.model});
}

// Ranks leave together: rank 0's store is needed until nobody beats any more.
void TrainingRun::leave() {
  constexpr std::chrono::seconds kStoppingData{15};  // stuck data processes are killed before that
  phase_ = "leaving";
  await_all_ranks(*groups_);
  processes_.stop();
  if (heartbeat_) heartbeat_->leave();
  if (store_->add(kLeft, 1) == world()) store_->set(kAllLeft, "1");
  const auto limit = options().ranks.timeout + kStoppingData;
  if (rank() == 0 && !store_->wait_for(kAllLeft, limit))
    log("train").warn("not all ranks have left within {}", print_duration(limit));
}

// Before an error leaves this rank: the others are told, or what they have told is found, and
// thrown in its place.
void TrainingRun::settle(const Error& error) {
  if (world() == 1) return;
  constexpr std::chrono::seconds kReading{10};
  const bool of_another = error.code() == ExitCode::peer_lost ||
                          dynamic_cast<const OtherRankFailed*>(&error) != nullptr;
  const auto ends = Clock::now() + 2 * options().ranks.timeout;
  std::optional<RankFailure> failure;
  try {
    if (!of_another) {
      tell_failure(*store_, {rank(), error.code(), error.what()});
      store_->set_once(kAllAlike, "no");  // where ranks still wait for it
    }
    failure = find_failure(*store_, 2 * options().ranks.timeout);
    if (rank() == 0 && failure) {
      store_->set_once(kOpened, "no");
      await_readers(*store_, world(), kReading);
    }
  } catch (const PeerLostError&) {  // nobody left to tell
  }
  if (of_another && !failure) {
    // A rank that fell silent, or died: the heartbeat finds out which, and ends this process.
    std::this_thread::sleep_until(ends);
    return;
  }
  if (heartbeat_) heartbeat_->leave();
  if (of_another)
    throw Error(failure->code, fmt::format("rank {} failed: {}", failure->rank, failure->text));
}

// --threads, or this rank's share of the processors it may use.
int threads_of(FileSystem& files, const RankOptions& options, const LaunchPlace& place) {
  if (options.threads) return static_cast<int>(*options.threads);
  const int usable = usable_processors(read_machine(files, process_environment, "").processors);
  return std::max(1, usable / place.local_world);
}

}  // namespace

int run_training(const RunOptions& options, const std::string& config,
                 Clock::time_point process_start) {
  RealFileSystem files;
  const LaunchPlace place = find_launch_place(options.ranks, process_environment);
  start_log({.rank = place.world > 1 ? place.rank : -1, .role = "trainer"});
  const ScopedStopSignals signals;
  TrainingInputs inputs = prepare_training(files, options, place);
  if (stop_state().stop()) {
    log("train").info("{} before the first step: nothing to save", to_text(stop_state().reason));
    return static_cast<int>(ExitCode::saved);
  }
  if (place.world > 1)
    inputs.lanes.front().membership =
        membership_over_gloo({.prefix = "align/",
                              .network = options.ranks.network,
                              .rank = place.rank,
                              .world = place.world,
                              .connect_timeout = options.ranks.timeout});
  DataProcesses processes(inputs.lanes);
  // From here on LibTorch, and threads.
  keep_tensor_memory();
  limit_kept_kernels();
  const LeaveNowWatch watch;
  at::set_num_threads(threads_of(files, options.ranks, place));
  TrainingRun run(files, inputs, processes, process_start);
  return run.run(config);
}

}  // namespace odb
