// What `odb-trainer plan` computes: strategies side by side over the same lengths, for every
// combination of the numbers of ranks and the swept options.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "batching/options.h"
#include "plan/simulation.h"
#include "plan/step_time.h"

namespace odb {

struct PlanOptions {
  std::string lengths = "chat";           // --lengths: a distribution or a file
  std::optional<std::int64_t> samples;    // --samples
  std::vector<std::int64_t> ranks = {8};  // --ranks; several are compared
  std::vector<Strategy> strategies;       // --batching; empty: all

  // Each may have several values: a sweep.
  std::vector<std::int64_t> l_max = {8192};
  std::vector<std::int64_t> window = {1024};
  std::vector<std::int64_t> round_groups = {16};
  std::vector<std::int64_t> depth = {8};
  std::vector<std::int64_t> pad_multiple = {8};

  Layout layout = Layout::automatic;        // --layout; auto: the usual one of each strategy
  Grouping grouping = Grouping::automatic;  // --grouping; odb only
  Align align = Align::balanced;
  PairBy pair_by = PairBy::cost;
  bool join = true;
  std::int64_t batch_size = 8;
  std::int64_t bucket_pool_factor = 50;
  std::uint64_t seed = 0;

  StepTime step_time;
  std::int64_t data_workers = 2;
  double seconds_per_sample = 0.5e-3;

  bool json = false;                // --json
  std::optional<std::string> plot;  // --plot, a path
};

// Samples of a named distribution for each rank, when --samples is not given.
inline constexpr std::int64_t kSamplesPerRank = 4096;

// One strategy under one combination.
struct PlanRow {
  std::string name;  // the strategy's; "odb-padded": the padded layout of odb, if flat is shown too
  std::int64_t ranks = 0;
  std::int64_t depth = 0;
  BatchingOptions options;  // resolved
  SimulationResult result;
  double speedup_over_standard = 0;  // seconds of standard / seconds, at the same combination
};

// Bytes of memory for an epoch of `samples` samples: the lengths, and the plan if any strategy
// makes one. Does not count the windows of the ranks.
std::uint64_t memory_needed(const PlanOptions& options, std::int64_t samples);

// Returns the lengths to use with `ranks` ranks.
using LengthsFor = std::function<LengthTable(std::int64_t ranks)>;
// Called before each simulation with its name: "odb at 1024 ranks".
using PlanProgress = std::function<void(const std::string&)>;

// Rows are ordered by strategy, then combination (options in the order above), then ranks. The
// strategy standard always runs, because speedups are relative to it. UsageError: a value out of
// range, naming its option.
std::vector<PlanRow> make_plan(const PlanOptions& options, const LengthsFor& lengths_for,
                               const PlanProgress& progress);

// The values of an option that may be swept, by its name: "l-max", "ranks", ...
struct SweptOption {
  std::string name;
  std::vector<std::int64_t> values;
  std::int64_t (*of_row)(const PlanRow& row);
};
// The options with more than one value, ranks last.
std::vector<SweptOption> swept_options(const PlanOptions& options);

}  // namespace odb
