#include "batching/options.h"

#include <cmath>

#include "base/error.h"

namespace odb {

bool keeps_budget(Strategy strategy) {
  return strategy != Strategy::standard && strategy != Strategy::sorted &&
         strategy != Strategy::bucket;
}

bool plans_epoch(Strategy strategy) {
  return strategy != Strategy::odb && strategy != Strategy::standard;
}

const char* name(Strategy value) {
  constexpr const char* kNames[] = {"odb", "standard", "sorted", "bucket", "gmt", "bmt", "packing"};
  return kNames[static_cast<int>(value)];
}
const char* name(Layout value) {
  constexpr const char* kNames[] = {"auto", "flat", "padded"};
  return kNames[static_cast<int>(value)];
}
const char* name(Grouping value) {
  constexpr const char* kNames[] = {"auto", "greedy", "fit"};
  return kNames[static_cast<int>(value)];
}
const char* name(Align value) {
  return value == Align::paper ? "paper" : "balanced";
}
const char* name(PairBy value) {
  return value == PairBy::cost ? "cost" : "random";
}
const char* name(LossNorm value) {
  constexpr const char* kNames[] = {"token", "sample", "rank-mean"};
  return kNames[static_cast<int>(value)];
}

BatchingOptions resolve(BatchingOptions options, Layout layout_of_model) {
  ODB_CHECK(layout_of_model != Layout::automatic, "a model prefers flat or padded");
  if (options.layout == Layout::automatic) options.layout = layout_of_model;
  if (options.grouping == Grouping::automatic)
    options.grouping = options.layout == Layout::flat ? Grouping::fit : Grouping::greedy;
  if (options.layout == Layout::padded && options.grouping == Grouping::fit)
    throw UsageError(
        "--grouping fit with --layout padded: fit adds lengths up to --l-max, padded rows all cost "
        "as much as the longest; use --grouping greedy or --layout flat");
  if (options.layout == Layout::padded && options.strategy == Strategy::packing)
    throw UsageError(
        "--batching packing with --layout padded: a packed row has samples of different lengths "
        "one after another; use --layout flat");
  if (!std::isfinite(options.quadratic_cost) || options.quadratic_cost < 0)
    throw UsageError("the quadratic cost of the model is {}; expected a finite number, 0 or more",
                     options.quadratic_cost);
  if (!options.global_batch_tokens && !options.global_batch_samples)
    options.accumulate = options.accumulate.value_or(1);
  return options;
}

std::string options_fingerprint(const BatchingOptions& resolved) {
  ODB_CHECK(resolved.layout != Layout::automatic && resolved.grouping != Grouping::automatic,
            "options fingerprinted before resolve()");
  // Without join the paper's rule applies, whatever --align is.
  const Align align = resolved.join ? resolved.align : Align::paper;
  return fmt::format(
      "batching={} l-max={} layout={} grouping={} align={} round-groups={} mates={} join={} "
      "window={} pad-multiple={} batch-size={} bucket-pool-factor={} quadratic-cost={}",
      name(resolved.strategy), resolved.l_max, name(resolved.layout), name(resolved.grouping),
      name(align), resolved.round_groups, name(resolved.pair_by), resolved.join ? "on" : "off",
      resolved.window, resolved.pad_multiple, resolved.batch_size, resolved.bucket_pool_factor,
      resolved.quadratic_cost);
}

}  // namespace odb
