#include "plan/plan.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "plan/meters.h"

namespace odb {
namespace {

constexpr Strategy kAllStrategies[] = {Strategy::standard, Strategy::sorted, Strategy::bucket,
                                       Strategy::gmt,      Strategy::bmt,    Strategy::packing,
                                       Strategy::odb};

struct Combination {
  std::int64_t l_max;
  std::int64_t window;
  std::int64_t round_groups;
  std::int64_t depth;
  std::int64_t pad_multiple;
  std::int64_t ranks;
};

std::vector<Combination> combinations(const PlanOptions& options) {
  std::vector<Combination> all;
  for (const std::int64_t l_max : options.l_max)
    for (const std::int64_t window : options.window)
      for (const std::int64_t round_groups : options.round_groups)
        for (const std::int64_t depth : options.depth)
          for (const std::int64_t pad_multiple : options.pad_multiple)
            for (const std::int64_t ranks : options.ranks)
              all.push_back({l_max, window, round_groups, depth, pad_multiple, ranks});
  return all;
}

// A line of the table: a strategy and its layout.
struct Contender {
  std::string name;
  Strategy strategy;
  Layout layout;
};

// With --layout auto, packing and odb run flat because they need no padding. The others run padded,
// as is usual. odb also runs padded, for comparison.
std::vector<Contender> contenders(const PlanOptions& options) {
  std::vector<Strategy> strategies = options.strategies;
  if (strategies.empty()) strategies.assign(std::begin(kAllStrategies), std::end(kAllStrategies));
  std::vector<Contender> all;
  for (const Strategy strategy : strategies) {
    const bool usual = options.layout == Layout::automatic;
    if (strategy == Strategy::packing || (usual && strategy == Strategy::odb))
      all.push_back({name(strategy), strategy, Layout::flat});
    else
      all.push_back({name(strategy), strategy, usual ? Layout::padded : options.layout});
    if (usual && strategy == Strategy::odb && options.grouping != Grouping::fit)
      all.push_back({"odb-padded", strategy, Layout::padded});
  }
  return all;
}

BatchingOptions batching_options(const PlanOptions& options, const Contender& contender,
                                 const Combination& at) {
  BatchingOptions batching;
  batching.strategy = contender.strategy;
  batching.layout = contender.layout;
  if (contender.strategy == Strategy::odb) batching.grouping = options.grouping;
  batching.l_max = at.l_max;
  batching.window = at.window;
  batching.round_groups = at.round_groups;
  batching.pad_multiple = at.pad_multiple;
  batching.align = options.align;
  batching.pair_by = options.pair_by;
  batching.join = options.join;
  batching.batch_size = options.batch_size;
  batching.bucket_pool_factor = options.bucket_pool_factor;
  batching.quadratic_cost = options.step_time.quadratic_cost();
  return resolve(batching, contender.layout);
}

PlanRow simulate_row(const PlanOptions& options, const Contender& contender, const Combination& at,
                     const LengthTable& lengths) {
  PlanRow row{.name = contender.name,
              .ranks = at.ranks,
              .depth = at.depth,
              .options = batching_options(options, contender, at),
              .result = {},
              .speedup_over_standard = 0};
  row.result = simulate({.lengths = lengths,
                         .options = row.options,
                         .world = static_cast<int>(at.ranks),
                         .seed = options.seed,
                         .step_time = options.step_time,
                         .pipeline = {.depth = at.depth,
                                      .workers = options.data_workers,
                                      .seconds_per_sample = options.seconds_per_sample}});
  return row;
}

}  // namespace

std::uint64_t memory_needed(const PlanOptions& options, std::int64_t samples) {
  constexpr std::uint64_t kBytesOfPlan = 30;  // while plan_epoch() runs
  const bool plans = options.strategies.empty() ||
                     std::any_of(options.strategies.begin(), options.strategies.end(), plans_epoch);
  return static_cast<std::uint64_t>(samples) * (sizeof(std::int32_t) + (plans ? kBytesOfPlan : 0));
}

std::vector<PlanRow> make_plan(const PlanOptions& options, const LengthsFor& lengths_for,
                               const PlanProgress& progress) {
  const std::vector<Contender> all = contenders(options);
  const std::vector<Combination> places = combinations(options);
  for (const Contender& contender : all)  // all errors before the first simulation
    for (const Combination& at : places)
      batching_options(options, contender, at);
  const Contender standard{name(Strategy::standard), Strategy::standard,
                           options.layout == Layout::flat ? Layout::flat : Layout::padded};
  std::vector<std::vector<PlanRow>> rows(all.size());
  for (const Combination& at : places) {
    const LengthTable lengths = lengths_for(at.ranks);
    progress(fmt::format("standard at {} ranks", at.ranks));
    const PlanRow baseline = simulate_row(options, standard, at, lengths);
    for (std::size_t i = 0; i < all.size(); ++i) {
      PlanRow row = baseline;
      if (all[i].strategy != Strategy::standard) {
        progress(fmt::format("{} at {} ranks", all[i].name, at.ranks));
        row = simulate_row(options, all[i], at, lengths);
      }
      row.speedup_over_standard = ratio(baseline.result.seconds, row.result.seconds);
      rows[i].push_back(std::move(row));
    }
  }
  std::vector<PlanRow> ordered;
  for (std::vector<PlanRow>& of_contender : rows)
    ordered.insert(ordered.end(), std::make_move_iterator(of_contender.begin()),
                   std::make_move_iterator(of_contender.end()));
  return ordered;
}

std::vector<SweptOption> swept_options(const PlanOptions& options) {
  std::vector<SweptOption> swept = {
      {"l-max", options.l_max, [](const PlanRow& row) { return row.options.l_max; }},
      {"window", options.window, [](const PlanRow& row) { return row.options.window; }},
      {"round-groups", options.round_groups,
       [](const PlanRow& row) { return row.options.round_groups; }},
      {"depth", options.depth, [](const PlanRow& row) { return row.depth; }},
      {"pad-multiple", options.pad_multiple,
       [](const PlanRow& row) { return row.options.pad_multiple; }},
      {"ranks", options.ranks, [](const PlanRow& row) { return row.ranks; }}};
  std::erase_if(swept, [](const SweptOption& option) { return option.values.size() < 2; });
  return swept;
}

}  // namespace odb
