#include "plan/plan_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "base/error.h"
#include "batching/option_table.h"
#include "plan/lengths.h"

namespace odb {
namespace {

constexpr std::int64_t kMaxRanks = 1 << 16;

// Bounds of the time model: far beyond any machine, and no result overflows or underflows.
constexpr double kMaxSeconds = 86400;
constexpr double kMinSeconds = 1e-15;  // per position, per sample
constexpr double kMaxBytes = 1e15;

void describe_data(OptionTable& table, PlanOptions& options) {
  table.group("data");
  table.add("lengths", options.lengths)
      .help(fmt::format("lengths of the samples: a file (one number a line, or JSON) or a "
                        "distribution, {}",
                        fmt::join(length_distributions(), ", ")));
  table.add("samples", options.samples)
      .unit("samples")
      .at_least(1)
      .at_most(kMaxSamples)
      .default_note(fmt::format("all of a file; {} per rank for a distribution", kSamplesPerRank))
      .help("samples of an epoch; the first ones of a file");
  table.add("ranks", options.ranks)
      .unit("ranks")
      .at_least(1)
      .at_most(kMaxRanks)
      .help("number of simulated ranks; each value gets a line");
  table.add("seed", options.seed).help("seed of the lengths and of every random choice");
}

void describe_strategies(OptionTable& table, PlanOptions& options) {
  table.group("batching");
  add_strategy(table, options.strategies).default_note("all").help("strategies to compare");
  add_layout(table, options.layout)
      .help("auto runs packing flat (always), odb in both layouts, the others padded");
  add_grouping(table, options.grouping);
  add_align(table, options.align);
  add_pair_by(table, options.pair_by);
  add_join(table, options.join);
  add_count(table, kBatchSizeOption, options.batch_size);
  add_count(table, kBucketPoolFactorOption, options.bucket_pool_factor);
}

void describe_sweeps(OptionTable& table, PlanOptions& options) {
  table.group("sweeps (each option may be repeated)");
  add_count(table, kLMaxOption, options.l_max);
  add_count(table, kWindowOption, options.window);
  add_count(table, kRoundGroupsOption, options.round_groups);
  table.add("depth", options.depth)
      .unit("slots")
      .at_least(1)
      .at_most(kMaxCount)
      .help("finished slots kept ready per rank");
  add_count(table, kPadMultipleOption, options.pad_multiple);
}

void describe_time(OptionTable& table, PlanOptions& options) {
  StepTime& time = options.step_time;
  table.group("time model");
  table.add("seconds-per-slot", time.seconds_per_slot)
      .unit("seconds")
      .at_least(0)
      .at_most(kMaxSeconds)
      .help("a in a + b x positions + c x sum of length^2, the compute time of a slot");
  table.add("seconds-per-position", time.seconds_per_position)
      .unit("seconds")
      .at_least(kMinSeconds)
      .at_most(kMaxSeconds)
      .help("b: time per computed position, real or padding");
  table.add("seconds-per-square", time.seconds_per_square)
      .unit("seconds")
      .at_least(0)
      .at_most(kMaxSeconds)
      .help("c: time per squared length, for attention");
  table.add("gradient-bytes", time.gradient_bytes)
      .unit("bytes")
      .at_least(0)
      .at_most(kMaxBytes)
      .help("size of the gradients that each step all-reduces");
  table.add("link-bytes-per-second", time.link_bytes_per_second)
      .unit("bytes per second")
      .at_least(1)
      .at_most(kMaxBytes)
      .help("bandwidth of a rank's link");
  table.add("latency-seconds", time.latency_seconds)
      .unit("seconds")
      .at_least(0)
      .at_most(kMaxSeconds)
      .help("latency of one message");
  table.add("data-workers", options.data_workers)
      .unit("processes")
      .at_least(1)
      .at_most(kMaxCount)
      .help("data workers per rank");
  table.add("seconds-per-sample", options.seconds_per_sample)
      .unit("seconds")
      .at_least(kMinSeconds)
      .at_most(kMaxSeconds)
      .help("time a data worker needs per sample");
}

// A repeated value would be simulated and shown twice.
void check_repeats(const PlanOptions& options) {
  for (const SweptOption& option : swept_options(options)) {
    std::vector<std::int64_t> values = option.values;
    std::sort(values.begin(), values.end());
    const auto twice = std::adjacent_find(values.begin(), values.end());
    if (twice != values.end())
      throw UsageError("--{} {} is given twice; give each value once", option.name, *twice);
  }
  for (std::size_t i = 0; i < options.strategies.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (options.strategies[i] == options.strategies[j])
        throw UsageError("--batching {} is given twice; give each strategy once",
                         name(options.strategies[i]));
}

void check_packing(const PlanOptions& options) {
  const bool packing = std::find(options.strategies.begin(), options.strategies.end(),
                                 Strategy::packing) != options.strategies.end();
  if (packing && options.layout == Layout::padded)
    throw UsageError(
        "--batching packing does not support --layout padded: a packed row joins samples of "
        "different lengths; remove one of the two options");
}

void check_plot(const PlanOptions& options) {
  if (!options.plot) return;
  const std::vector<SweptOption> swept = swept_options(options);
  std::vector<std::string> names;
  names.reserve(swept.size());
  for (const SweptOption& option : swept)
    names.push_back("--" + option.name);
  const bool with_ranks = !swept.empty() && swept.back().name == "ranks";
  if (swept.size() != 1 && !(swept.size() == 2 && with_ranks))
    throw UsageError(
        "--plot needs one swept option, or one and --ranks; options with several values: {}. Give "
        "several values to one of --l-max, --window, --round-groups, --depth, --pad-multiple or "
        "--ranks, or to one of the first five and --ranks",
        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

}  // namespace

void describe(OptionTable& table, PlanOptions& options) {
  describe_data(table, options);
  describe_strategies(table, options);
  describe_sweeps(table, options);
  describe_time(table, options);
  table.group("output");
  table.add_switch("json", options.json).help("print one JSON object instead of a table");
  table.add("plot", options.plot)
      .form("a path", [](const std::string& path) { return !path.empty(); })
      .help("also write the results over the swept option to this SVG file");
  table.validate([&options] {
    check_repeats(options);
    check_packing(options);
    check_plot(options);
  });
}

}  // namespace odb
