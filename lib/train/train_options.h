// The options of a training run that belong to no other module: optimizer, length, ranks, files,
// logging, evaluation. One struct and one describe() for each group, so that a command takes those
// it needs.
//
// The table checks rules over several options (OptionTable::validate): a UsageError names the
// options, what was found and what to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/amount.h"
#include "base/options/table.h"
#include "train/step/run_part.h"

namespace odb {

enum class OptimizerKind { adamw, sgd };
enum class LearningRateSchedule {
  cosine,
  constant,
  linear,
  cosine_with_min,
  warmup_stable_decay,
  inverse_sqrt,
  polynomial
};
enum class OnNan { stop, skip };
enum class ConsoleKind { automatic, bar, lines, off };

const char* name(OptimizerKind value);
const char* name(LearningRateSchedule value);
const char* name(OnNan value);
const char* name(ConsoleKind value);

// Group "optimizer".
struct OptimizerOptions {
  OptimizerKind optimizer = OptimizerKind::adamw;
  double lr = 1e-5;  // peak of the schedule
  LearningRateSchedule lr_schedule = LearningRateSchedule::cosine;
  RunPart warmup{.share = 0.03, .amount = {}};
  // Only for the schedules that have them (defaults: schedule_shape).
  std::optional<double> min_lr_ratio;      // lowest rate / lr
  std::optional<RunPart> decay;            // the last part of warmup-stable-decay
  std::optional<double> polynomial_power;  // of polynomial
  double weight_decay = 0;
  // Only for the optimizer that has them: refused for the other one.
  std::optional<double> adam_beta1;
  std::optional<double> adam_beta2;
  std::optional<double> adam_epsilon;
  std::optional<double> sgd_momentum;
  double max_grad_norm = 1.0;  // 0: no clipping
  OnNan on_nan = OnNan::stop;
  std::optional<std::int64_t> max_nan_steps;  // only for OnNan::skip

  // Values, with the defaults of what is not given.
  double beta1() const { return adam_beta1.value_or(0.9); }
  double beta2() const { return adam_beta2.value_or(0.999); }
  double epsilon() const { return adam_epsilon.value_or(1e-8); }
  double momentum() const { return sgd_momentum.value_or(0); }
  // Skipped steps in a row before the run ends.
  std::int64_t nan_step_limit() const { return max_nan_steps.value_or(10); }
};

// Sets options that are not given, and have an effect together with the others, to their defaults.
// The options stay valid and mean the same. For the record of a run.
void fill_defaults(OptimizerOptions& options);

// Group "length". The first limit reached ends the run.
struct LengthOptions {
  std::optional<double> epochs;  // 1 if there is no other limit but the time limit
  std::optional<std::int64_t> max_steps;
  std::optional<std::int64_t> max_samples;
  std::optional<std::int64_t> max_tokens;  // real ones, over all ranks
  // Of this process life: save and leave with ExitCode::saved. Not a length: the learning rate does
  // not depend on it.
  std::optional<std::chrono::milliseconds> time_limit;
};

// Group "ranks".
struct RankOptions {
  std::optional<std::int64_t> rank;  // these three: from the launcher's environment
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> local_rank;
  std::string rendezvous = "auto";  // auto, env, HOST:PORT
  std::chrono::milliseconds timeout{300000};
  std::string device = "auto";   // auto, cpu, cuda, cuda:N
  std::string backend = "auto";  // auto, gloo, nccl
  bool mixed_devices = false;    // ranks may train on GPUs of different kinds
  std::string network;           // this machine's name or address; empty: detected
  std::optional<std::int64_t> threads;
};

// Group "files".
struct FileOptions {
  std::string output;
  bool overwrite = false;
};

// Group "files": what is saved.
struct SavingOptions {
  std::optional<Amount> save_every;  // none: at the end of the run only
  std::int64_t keep = 3;             // newest checkpoints; 0: all
};

// Group "logging".
struct LoggingOptions {
  std::int64_t log_every = 1;  // steps; also of metrics.jsonl
  ConsoleKind console = ConsoleKind::automatic;
  std::int64_t check_every = 500;  // steps; 0: never
};

// Group "evaluation".
struct EvaluationOptions {
  std::vector<std::string> eval_data;
  std::optional<Amount> eval_every;  // none: at each epoch's end
  bool eval_at_start = false;
};

void describe(OptionTable& table, OptimizerOptions& options);
void describe(OptionTable& table, LengthOptions& options);
void describe(OptionTable& table, RankOptions& options);
void describe(OptionTable& table, FileOptions& options);
void describe(OptionTable& table, SavingOptions& options);
void describe(OptionTable& table, LoggingOptions& options);
void describe(OptionTable& table, EvaluationOptions& options);

}  // namespace odb
