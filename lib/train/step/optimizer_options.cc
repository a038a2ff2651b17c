#include "train/step/optimizer_options.h"

#include "base/options/choices.h"

namespace odb {
namespace {

using enum LearningRateSchedule;

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

bool has_min_ratio(LearningRateSchedule schedule) {
  return schedule == cosine_with_min || schedule == warmup_stable_decay || schedule == polynomial;
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

}  // namespace odb
