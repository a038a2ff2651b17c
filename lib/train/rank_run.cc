#include "train/rank_run.h"

#include <unistd.h>

#include <atomic>
#include <functional>
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
#include "train/output/run_records.h"
#include "train/replica.h"
#include "train/run_checkpoint.h"
#include "train/session/foreign_error.h"
#include "train/session/rendezvous.h"
#include "train/session/stop_check.h"
#include "train/session/stop_notice.h"
#include "train/step/device.h"
#include "train/step/training_loop.h"
#include "train/training_inputs.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

class RankRun {
 public:
  RankRun(FileSystem& files, TrainingInputs& inputs, DataProcesses& processes,
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
  std::optional<Replica> replica_;
  std::optional<Evaluations> evaluations_;
  std::exception_ptr failure_;  // equal on all ranks: they leave together
  RunTotals before_;            // at the last boundary between steps
  std::optional<StopNotice> stop_notice_;
};

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
  rendezvous_->start_heartbeat(phase, before_end);
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

void RankRun::load() {
  phase_ = "loading the model";
  replica_.emplace(files_, inputs_, device_, *groups_);
  if (!inputs_.evaluation.empty())
    evaluations_.emplace(options().evaluation,
                         Evaluator(processes_, 1, options().evaluation.eval_data,
                                   loss_of(replica_->model()), device_, *groups_, *stop_));
}

LoopEvents RankRun::events() {
  return {.stop_asked = [this] { return stop_->here(); },
          .on_finished = std::bind_front(&RunRecords::on_finished, records_.get()),
          .on_measured = std::bind_front(&RunRecords::on_measured, records_.get()),
          .between_steps = std::bind_front(&RankRun::between_steps, this)};
}

bool RankRun::between_steps(const Progress& progress) {
  const RunTotals before = std::exchange(before_, progress.totals());
  const std::int64_t every = options().logging.check_every;
  const std::int64_t step = progress.totals().steps;
  if (every > 0 && step % every == 0 && step != before.steps)
    replica_->check_equal(fmt::format("after step {}", step));
  return !evaluations_ || !evaluations_->due(before, progress) || evaluate(progress.totals());
}

// False: stopped.
bool RankRun::evaluate(const RunTotals& totals) {
  const char* phase = phase_.exchange("evaluating");
  std::optional<std::vector<EvaluationResult>> results;
  try {
    results = evaluations_->run(totals);
  } catch (const PeerLostError&) {
    throw;
  } catch (const Error&) {
    failure_ = std::current_exception();
  }
  phase_ = phase;
  if (!results) return false;
  records_->on_evaluated(*results, totals);
  return true;
}

int RankRun::train() {
  const RunOptions& run = options();
  SlotSource slots(processes_.pipeline(0), MicroBatchBuilder(device_, run.batching.loss_norm));
  ControlChannel control(*groups_);
  TrainingStep step(
      loss_of(replica_->model()), replica_->model().weights(), *groups_, replica_->reducer(),
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
                    slots, control, step, Progress(inputs_.limits), start_, events());
  const auto before = Clock::now();
  if (evaluations_ && run.evaluation.eval_at_start) evaluate({});
  phase_ = "training";
  records_->on_start(seconds_since(before));
  LoopEnd end{.stopped = failure_ != nullptr, .failure = failure_};
  if (!failure_) end = loop.run();
  if (end.failure) failure_ = end.failure;
  if (!end.stopped && evaluations_ && evaluations_->due(before_, loop.progress()))
    end.stopped = !evaluate(loop.progress().totals());
  phase_ = "saving";
  const std::string path = save(loop);
  ExitCode code = end.stopped ? ExitCode::saved : ExitCode::done;
  std::string reason = end.stopped ? stop_->reason() : "done: " + loop.progress().reached();
  if (failure_) {
    const Failure failure = failure_of(failure_);
    code = failure.code;
    reason = failure.message;
  }
  records_->finish(loop.progress(), loop.seconds(), reason, static_cast<int>(code));
  if (rank() == 0) log("train").info("{}", failure_ ? path : reason + "; " + path);
  return static_cast<int>(code);
}

std::string RankRun::save(const TrainingLoop& loop) {
  const RunTotals& totals = loop.progress().totals();
  records_->sync();
  if (totals.steps == 0) return "no step was finished, nothing to save";
  const RunSnapshot run{.totals = totals,
                        .best = evaluations_ ? evaluations_->best() : std::nullopt,
                        .life = life_,
                        .data = loop.state()};
  return "saved " + save_run(files_, inputs_, *replica_, *groups_, run);
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
  replica_.reset();
  groups_.reset();
  rendezvous_->await_cause(error);
}

}  // namespace

int run_rank(FileSystem& files, TrainingInputs& inputs, DataProcesses& processes,
             const std::string& config, Clock::time_point process_start) {
  return RankRun(files, inputs, processes, process_start).run(config);
}

}  // namespace odb
