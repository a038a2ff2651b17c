#include "train/train_options.h"

#include "base/text.h"
#include "batching/option_table.h"
#include "train/step/schedule.h"

namespace odb {
namespace {

using enum LearningRateSchedule;

bool has_min_ratio(LearningRateSchedule schedule) {
  return schedule == cosine_with_min || schedule == warmup_stable_decay || schedule == polynomial;
}

void check_schedule(const OptimizerOptions& options) {
  const LearningRateSchedule schedule = options.lr_schedule;
  if (options.min_lr_ratio && !has_min_ratio(schedule))
    throw UsageError(
        "--min-lr-ratio with --lr-schedule {}, which goes down to 0 or has no end of its own; "
        "leave it out, or take cosine-with-min, warmup-stable-decay or polynomial (power 1 is "
        "linear)",
        name(schedule));
  if (options.decay && schedule != warmup_stable_decay)
    throw UsageError(
        "--decay with --lr-schedule {}; only warmup-stable-decay has a decay of its own",
        name(schedule));
  if (options.polynomial_power && schedule != polynomial)
    throw UsageError("--polynomial-power with --lr-schedule {}; only polynomial has a power",
                     name(schedule));
  const double decay = options.decay.value_or(RunPart{.share = 0.1, .amount = {}}).share;
  if (schedule == warmup_stable_decay && options.warmup.share + decay > 1)
    throw UsageError(
        "--warmup {} and --decay {} are more than the whole run; expected at most 1 together",
        options.warmup.share, decay);
}

void refuse_of_other(const char* option, const std::optional<double>& value, OptimizerKind owner,
                     OptimizerKind chosen) {
  if (value && chosen != owner)
    throw UsageError("--{} {} with --optimizer {}, which has none; leave it out, or take {}",
                     option, *value, name(chosen), name(owner));
}

void check_optimizer(const OptimizerOptions& options) {
  const OptimizerKind chosen = options.optimizer;
  refuse_of_other("adam-beta1", options.adam_beta1, OptimizerKind::adamw, chosen);
  refuse_of_other("adam-beta2", options.adam_beta2, OptimizerKind::adamw, chosen);
  refuse_of_other("adam-epsilon", options.adam_epsilon, OptimizerKind::adamw, chosen);
  refuse_of_other("sgd-momentum", options.sgd_momentum, OptimizerKind::sgd, chosen);
  if (options.max_nan_steps && options.on_nan != OnNan::skip)
    throw UsageError(
        "--max-nan-steps {} with --on-nan {}, which ends the run at the first such step; leave it "
        "out, or take --on-nan skip",
        *options.max_nan_steps, name(options.on_nan));
}

void describe_schedule(OptionTable& table, OptimizerOptions& options) {
  table
      .add("lr-schedule", options.lr_schedule,
           named({cosine, constant, linear, cosine_with_min, warmup_stable_decay, inverse_sqrt,
                  polynomial}))
      .help("how the learning rate falls after the warm-up, by the share of the run that is done");
  table.add("warmup", options.warmup)
      .help("part of the run in which the learning rate rises from 0 in a straight line");
  table.add("min-lr-ratio", options.min_lr_ratio)
      .at_least(0)
      .at_most(1)
      .default_note("0.1 for cosine-with-min, else 0")
      .help(
          "lowest learning rate as a share of --lr; of cosine-with-min, warmup-stable-decay and "
          "polynomial");
  table.add("decay", options.decay)
      .default_note("0.1")
      .help("last part of the run, in which warmup-stable-decay falls");
  table.add("polynomial-power", options.polynomial_power)
      .above(0)
      .default_note("1")
      .help("power of polynomial");
}

void describe_update(OptionTable& table, OptimizerOptions& options) {
  table.add("weight-decay", options.weight_decay)
      .at_least(0)
      .help("weight decay of matrices (adamw: decoupled); norms and biases have none");
  table.add("adam-beta1", options.adam_beta1)
      .at_least(0)
      .below(1)
      .default_note("0.9")
      .help("decay of adamw's mean of gradients");
  table.add("adam-beta2", options.adam_beta2)
      .at_least(0)
      .below(1)
      .default_note("0.999")
      .help("decay of adamw's mean of squared gradients");
  table.add("adam-epsilon", options.adam_epsilon)
      .above(0)
      .default_note("1e-8")
      .help("added to the root of adamw's mean of squares");
  table.add("sgd-momentum", options.sgd_momentum)
      .at_least(0)
      .below(1)
      .default_note("0")
      .help("share of the last update that sgd keeps");
  table.add("max-grad-norm", options.max_grad_norm)
      .at_least(0)
      .help("longer gradients are scaled down to this norm; 0 never does");
  table.add("on-nan", options.on_nan, named({OnNan::stop, OnNan::skip}))
      .help("at a gradient that is not finite: end the run, or skip the step and count it");
  table.add("max-nan-steps", options.max_nan_steps)
      .formerly("most-nan-steps")
      .unit("steps")
      .at_least(1)
      .default_note("10")
      .help("skipped in a row before --on-nan skip ends the run");
}

bool is_device(const std::string& text) {
  if (text == "auto" || text == "cpu" || text == "cuda") return true;
  const std::string_view prefix = "cuda:";
  const auto number = text.starts_with(prefix)
                          ? parse_integer<int>(std::string_view(text).substr(prefix.size()))
                          : std::nullopt;
  return number && *number >= 0;
}

bool is_rendezvous(const std::string& text) {
  if (text == "auto" || text == "env") return true;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  const auto port = parse_integer<std::uint16_t>(std::string_view(text).substr(colon + 1));
  return port && *port > 0;
}

void check_ranks(const RankOptions& options) {
  if (options.rendezvous != "auto" && options.rendezvous != "env" && !options.rank)
    throw UsageError(
        "--rendezvous {} without --rank and --world-size: this process has no rank; give both, or "
        "leave --rendezvous to the launcher (auto) or out of a run of one rank",
        options.rendezvous);
  if (options.rank.has_value() != options.world_size.has_value())
    throw UsageError("--rank and --world-size come together, found only --{}",
                     options.rank ? "rank" : "world-size");
  if (options.rank && *options.rank >= *options.world_size)
    throw UsageError("--rank {} with --world-size {}; ranks count from 0 to {}", *options.rank,
                     *options.world_size, *options.world_size - 1);
  if (options.local_rank && options.world_size && *options.local_rank >= *options.world_size)
    throw UsageError("--local-rank {} with --world-size {}; expected less than the world size",
                     *options.local_rank, *options.world_size);
  if (options.backend == "nccl" && options.device == "cpu")
    throw UsageError("--backend nccl with --device cpu; nccl needs a GPU, take gloo");
}

}  // namespace

const char* name(OptimizerKind value) {
  return value == OptimizerKind::adamw ? "adamw" : "sgd";
}
const char* name(LearningRateSchedule value) {
  constexpr const char* kNames[] = {
      "cosine",       "constant",  "linear", "cosine-with-min", "warmup-stable-decay",
      "inverse-sqrt", "polynomial"};
  return kNames[static_cast<int>(value)];
}
const char* name(OnNan value) {
  return value == OnNan::stop ? "stop" : "skip";
}
const char* name(ConsoleKind value) {
  constexpr const char* kNames[] = {"auto", "bar", "lines", "off"};
  return kNames[static_cast<int>(value)];
}

void fill_defaults(OptimizerOptions& options) {
  const ScheduleShape shape = schedule_shape(options);
  const LearningRateSchedule schedule = options.lr_schedule;
  if (has_min_ratio(schedule)) options.min_lr_ratio = shape.min_ratio;
  if (schedule == warmup_stable_decay) options.decay = shape.decay;
  if (schedule == polynomial) options.polynomial_power = shape.power;
  if (options.optimizer == OptimizerKind::adamw) {
    options.adam_beta1 = options.beta1();
    options.adam_beta2 = options.beta2();
    options.adam_epsilon = options.epsilon();
  } else {
    options.sgd_momentum = options.momentum();
  }
  if (options.on_nan == OnNan::skip) options.max_nan_steps = options.nan_step_limit();
}

void describe(OptionTable& table, OptimizerOptions& options) {
  table.group("optimizer");
  table.add("optimizer", options.optimizer, named({OptimizerKind::adamw, OptimizerKind::sgd}))
      .help("what turns gradients into updates");
  table.add("lr", options.lr).at_least(0).help("learning rate after the warm-up");
  describe_schedule(table, options);
  describe_update(table, options);
  table.validate([&options] {
    check_schedule(options);
    check_optimizer(options);
  });
}

void describe(OptionTable& table, LengthOptions& options) {
  table.group("length");
  table.add("epochs", options.epochs)
      .unit("epochs")
      .above(0)
      .at_most(1e6)
      .default_note("1 if no other limit is given")
      .help("passes over the data; a part such as 0.5 is permitted");
  table.add("max-steps", options.max_steps)
      .unit("steps")
      .at_least(1)
      .help("the run ends after this many optimizer steps");
  table.add("max-samples", options.max_samples)
      .unit("samples")
      .at_least(1)
      .help("the run ends with the step that reaches this many trained samples, over all ranks");
  table.add("max-tokens", options.max_tokens)
      .unit("tokens")
      .at_least(1)
      .help(
          "the run ends with the step that reaches this many trained real tokens, over all ranks");
  table.add("time-limit", options.time_limit)
      .above(std::chrono::milliseconds(0))
      .help("save and exit with code 75 after this time; the learning rate does not depend on it");
}

void describe(OptionTable& table, RankOptions& options) {
  table.group("ranks");
  table.add("rank", options.rank)
      .at_least(0)
      .default_note("from the launcher, else 0")
      .help("number of this process over the whole job");
  table.add("world-size", options.world_size)
      .at_least(1)
      .at_most(kMaxCount)
      .default_note("from the launcher, else 1")
      .help("processes of the whole job");
  table.add("local-rank", options.local_rank)
      .at_least(0)
      .default_note("from the launcher, else the rank")
      .help("number of this process on its machine; chooses the GPU");
  table.add("rendezvous", options.rendezvous)
      .form("auto, env or HOST:PORT", is_rendezvous)
      .help("how ranks find each other: HOST:PORT of rank 0, or from where it is read");
  table.add("timeout", options.timeout)
      .at_least(std::chrono::seconds(1))
      .help("a rank that gives no sign of life for this long is lost");
  table.add("device", options.device)
      .form("auto, cpu, cuda or cuda:N", is_device)
      .help("device to compute on; auto takes the local rank's GPU if there is one");
  table.add("backend", options.backend)
      .choices({"auto", "gloo", "nccl"})
      .help("how ranks exchange gradients; auto is nccl on GPUs if the build has it");
  table.add("mixed-devices", options.mixed_devices)
      .help("on permits ranks on GPUs of different kinds, which may make their weights differ");
  table.add("network", options.network)
      .help("name or address by which other ranks reach this machine; empty: detected");
  table.add("threads", options.threads)
      .at_least(1)
      .at_most(4096)
      .default_note("the machine's processors shared out over its ranks")
      .help("threads that compute in this process");
  table.validate([&options] { check_ranks(options); });
}

void describe(OptionTable& table, FileOptions& options) {
  table.group("files");
  table.add("output", options.output).help("folder of the run; created if missing");
  table.add("overwrite", options.overwrite)
      .help("on removes the run that the output folder holds, and starts again");
}

void describe(OptionTable& table, SavingOptions& options) {
  table.group("files");
  table.add("save-every", options.save_every)
      .units({})
      .default_note("at the end of the run only")
      .help("how often a checkpoint is saved");
  table.add("keep", options.keep)
      .unit("checkpoints")
      .at_least(0)
      .help("newest ones to keep, in addition to the best; 0 keeps all");
}

void describe(OptionTable& table, LoggingOptions& options) {
  table.group("logging");
  table.add("log-every", options.log_every)
      .unit("steps")
      .at_least(1)
      .help("how often a line goes to metrics.jsonl and, without a bar, to the log");
  table
      .add("console", options.console,
           named({ConsoleKind::automatic, ConsoleKind::bar, ConsoleKind::lines, ConsoleKind::off}))
      .help("how progress is shown; auto is a bar on a terminal, else lines");
  table.add("check-every", options.check_every)
      .unit("steps")
      .at_least(0)
      .help("how often all ranks compare their weights; 0 never does");
}

void describe(OptionTable& table, EvaluationOptions& options) {
  table.group("evaluation");
  table.add("eval-data", options.eval_data).help("file of samples to evaluate on, as for --data");
  table.add("eval-every", options.eval_every)
      .units({.units = {Unit::epochs, Unit::samples, Unit::tokens, Unit::steps}, .bare = {}})
      .default_note("at the end of each epoch")
      .help("how often to evaluate");
  table.add("eval-at-start", options.eval_at_start).help("on evaluates before the first step, too");
  table.validate([&options] {
    if (options.eval_data.empty() && (options.eval_every || options.eval_at_start))
      throw UsageError("--{} without --eval-data; name the file to evaluate on",
                       options.eval_every ? "eval-every" : "eval-at-start");
  });
}

}  // namespace odb
