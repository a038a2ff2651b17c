#include "train/rank_run.h"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <semaphore>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/seconds_since.h"
#include "data/loader/processes/data_processes.h"
#include "dist/gloo_membership.h"
#include "dist/sums.h"
#include "train/evaluations.h"
#include "train/input_facts.h"
#include "train/output/checkpoint_space.h"
#include "train/output/ledger_recorder.h"
#include "train/output/run_records.h"
#include "train/replica.h"
#include "train/run_checkpoint.h"
#include "train/session/foreign_error.h"
#include "train/session/rendezvous.h"
#include "train/session/stop_check.h"
#include "train/session/stop_notice.h"
#include "train/step/dead_run_watch.h"
#include "train/step/device.h"
#include "train/step/training_loop.h"
#include "train/training_inputs.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

// Shows the phase of the run to the heartbeat and to stop notices.
class PhaseShown final : public StepObserver {
 public:
  explicit PhaseShown(std::atomic<const char*>& phase) : phase_(phase) {}
  void begin_evaluation(const RunTotals&) override { before_ = phase_.exchange("evaluating"); }
  void end_evaluation(std::span<const EvaluationResult>, const RunTotals&) override {
    phase_ = before_;
  }
  void begin_save(const RunTotals&) override { phase_ = "saving"; }

 private:
  std::atomic<const char*>& phase_;
  const char* before_ = "training";
};

class RankRun {
 public:
  RankRun(FileSystem& files, TrainingInputs& inputs, DataProcesses& processes, ProcessEnd& end,
          Clock::time_point process_start)
      : files_(files),
        inputs_(inputs),
        processes_(processes),
        end_(end),
        process_start_(process_start) {}

  int run(const std::string& config) {
    find_rank_0();
    int code = 0;
    try {
      meet();
      device_ = choose_device(options().ranks.device, inputs_.launch.local_rank);
      require_backend(backend_choice(options().ranks.backend), device_);
      require_memory(inputs_, free_memory(device_), device_.str());
      open(config);
      rendezvous_->compare_inputs(input_facts(inputs_),
                                  options().ranks.mixed_devices ? "" : device_name(device_));
      if (rank() == 0) log_start(inputs_, config);
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

  void find_rank_0();
  void meet();
  void open(const std::string& config);
  void acknowledge_stops();
  void join();
  void load();
  int train();
  void leave();
  void fail(const Error& error);

  StepObservers observers();
  std::string save(const TrainingLoop& loop);

  FileSystem& files_;
  TrainingInputs& inputs_;
  DataProcesses& processes_;
  ProcessEnd& end_;
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
  PhaseShown phase_shown_{phase_};
  std::optional<LedgerRecorder> ledger_;
  std::optional<RunRecords> records_;           // rank 0
  std::optional<DeadRunWatch> dead_run_watch_;  // rank 0
  std::int64_t life_ = 0;
  std::optional<Replica> replica_;
  std::optional<ReplicaCheck> replica_check_;
  std::optional<Evaluations> evaluations_;
  std::exception_ptr failure_;  // equal on all ranks: they leave together
  std::optional<StopNotice> stop_notice_;
};

void RankRun::find_rank_0() {
  try {
    rendezvous_.emplace(inputs_.launch, options().ranks.timeout);
  } catch (const StoppedBeforeTraining& stop) {
    report_early_failure(inputs_.launch, options().ranks.timeout, stop);
    throw;
  }
}

// Collate learns where the ranks meet, and the ranks watch each other from here on.
void RankRun::meet() {
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
  rendezvous_->start_heartbeat(end_, phase, before_end, options().ranks.network);
}

// Rank 0 takes the run's folder, if it has room for a checkpoint.
void RankRun::open(const std::string& config) {
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
void RankRun::acknowledge_stops() {
  if (rank() == 0 || ::isatty(STDERR_FILENO) == 1)
    stop_notice_.emplace([this] { return phase_.load(); });
}

void RankRun::join() {
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
  stop_.emplace(rendezvous_->store(), world(),
                limit ? std::optional(process_start_ + *limit) : std::nullopt);
  ledger_.emplace(files_, LedgerRecorderOptions{
                              .paths = paths_, .life = life_, .rank = rank(), .world = world()});
  if (rank() == 0) {
    dead_run_watch_.emplace([](const std::string& warning) { log("train").warn("{}", warning); });
    records_.emplace(files_,
                     RunRecordsOptions{.paths = paths_,
                                       .life = life_,
                                       .world = world(),
                                       .data_size = inputs_.limits.data_size,
                                       .learning_rate = options().optimizer.lr,
                                       .log_every = options().logging.log_every,
                                       .console = options().logging.console,
                                       .process_start = process_start_,
                                       .peak_memory = [this] { return peak_memory(device_); }});
  }
  recording_ = rank() == 0;
}

void RankRun::load() {
  phase_ = "loading the model";
  replica_.emplace(files_, inputs_, device_, *groups_);
  replica_check_.emplace(*replica_, options().logging.check_every);
  if (!inputs_.evaluation.empty())
    evaluations_.emplace(options().evaluation,
                         Evaluator(processes_, 1, options().evaluation.eval_data,
                                   loss_of(replica_->model()), device_, *groups_, *stop_),
                         observers());
}

// Before evaluations exist: those that follow evaluations.
StepObservers RankRun::observers() {
  StepObservers list{&phase_shown_, &*ledger_};
  if (records_) list.push_back(&*records_);
  if (dead_run_watch_) list.push_back(&*dead_run_watch_);
  list.push_back(&*replica_check_);
  if (evaluations_) list.push_back(&*evaluations_);
  return list;
}

int RankRun::train() {
  const RunOptions& run = options();
  PipelineSlots slots(processes_.pipeline(0), MicroBatchBuilder(device_, run.batching.loss_norm));
  GroupControl control(*groups_);
  DistributedStep step(
      loss_of(replica_->model()), replica_->trained(), *groups_, replica_->reducer(),
      replica_->optimizer(),
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
                    {.slots = slots,
                     .control = control,
                     .step = step,
                     .observers = observers(),
                     .stop_asked = [this] { return stop_->here(); }},
                    Progress(inputs_.limits), start_);
  const auto before = Clock::now();
  bool go_on = !evaluations_ || !run.evaluation.eval_at_start || evaluations_->run({});
  phase_ = "training";
  if (records_) records_->on_start(seconds_since(before));
  if (go_on) {
    const LoopEnd end = loop.run();
    failure_ = end.failure;
    go_on = !end.stopped && (!evaluations_ || evaluations_->run_if_due(loop.progress()));
  }
  if (evaluations_ && evaluations_->failure()) failure_ = evaluations_->failure();
  const std::string path = save(loop);
  ExitCode code = go_on ? ExitCode::done : ExitCode::saved;
  std::string reason = go_on ? "done: " + loop.progress().reached() : stop_->reason();
  if (failure_) {
    const Failure failure = failure_of(failure_);
    code = failure.code;
    reason = failure.message;
  }
  if (records_) records_->finish(loop.progress(), loop.seconds(), reason, static_cast<int>(code));
  if (rank() == 0) log("train").info("{}", failure_ ? path : reason + "; " + path);
  return static_cast<int>(code);
}

std::string RankRun::save(const TrainingLoop& loop) {
  const RunTotals& totals = loop.progress().totals();
  for (StepObserver* observer : observers())
    observer->begin_save(totals);
  if (totals.steps == 0) return "no step was finished, nothing to save";
  const RunSnapshot run{.totals = totals,
                        .best = evaluations_ ? evaluations_->best() : std::nullopt,
                        .life = life_,
                        .data = loop.state()};
  const std::string path = save_run(files_, inputs_, *replica_, *groups_, run);
  for (StepObserver* observer : observers())
    observer->end_save(totals, path);
  return "saved " + path;
}

void RankRun::leave() {
  if (stop_notice_) stop_notice_->end();
  phase_ = "leaving";
  await_all_ranks(*groups_);
  processes_.stop();
  rendezvous_->leave();
}

// Reports the error to the other ranks and records it. If it came from another rank, throws that
// one's error. Others may be in a collective, which ends when the groups do.
void RankRun::fail(const Error& error) {
  if (stop_notice_) stop_notice_->end();
  rendezvous_->publish_failure(error);
  if (records_) records_->fail(error);
  recorded_.release();
  evaluations_.reset();
  replica_check_.reset();
  replica_.reset();
  groups_.reset();
  rendezvous_->await_cause(error);
}

}  // namespace

int run_rank(FileSystem& files, TrainingInputs& inputs, DataProcesses& processes, ProcessEnd& end,
             const std::string& config, Clock::time_point process_start) {
  return RankRun(files, inputs, processes, end, process_start).run(config);
}

}  // namespace odb
