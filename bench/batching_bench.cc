// How fast windows are grouped and rounds are run, on lengths of the distribution "chat": a rank
// must never wait for its batches to be formed.
#include <memory>
#include <vector>

#include <benchmark/benchmark.h>

#include "batching/grouping.h"
#include "batching/lock_step.h"
#include "batching/odb_source.h"
#include "batching/rounds.h"
#include "batching/sampler.h"
#include "plan/lengths.h"

namespace {

using namespace odb;

constexpr std::int64_t kWindow = 1024;
constexpr std::size_t kWindows = 64;  // different ones in turn, so that branches stay unpredictable

BatchingOptions options(Layout layout) {
  return resolve({.layout = layout, .window = kWindow}, layout);
}

std::vector<Item> items(std::size_t count) {
  std::vector<Item> result;
  for (const std::int32_t length : named_lengths("chat", static_cast<std::int64_t>(count), 0))
    result.push_back({.view = static_cast<ViewId>(result.size()), .length = length});
  return result;
}

// Whole windows in draw order; greedy sorts each.
void group_windows(benchmark::State& state, Layout layout) {
  const GroupingRule rule = grouping_rule(options(layout));
  const std::vector<Item> all = items(kWindows * kWindow);
  Partition partition;
  std::size_t window = 0;
  for (auto _ : state) {
    partition_window(rule, std::span(all).subspan(window * kWindow, kWindow), partition);
    benchmark::DoNotOptimize(partition.groups.data());
    window = (window + 1) % kWindows;
  }
  state.SetItemsProcessed(state.iterations() * kWindow);
}
BENCHMARK_CAPTURE(group_windows, greedy, Layout::padded);
BENCHMARK_CAPTURE(group_windows, fit, Layout::flat);

std::vector<Rounds> start_epoch(const BatchingOptions& options, std::int64_t data_size, int world) {
  const Permutation order(data_size, 0, 0);
  std::vector<Rounds> ranks;
  for (int rank = 0; rank < world; ++rank) {
    const RoundStart start = first_round(options, data_size, rank, world, 0);
    ranks.emplace_back(RunShape{.rank = rank, .world = world, .seed = 0, .data_size = data_size},
                       options, start, std::make_unique<OdbSource>(options, order, nullptr, start));
  }
  return ranks;
}

// Whole rounds: refill, group, align, choose, total. All ranks run in one thread, and each rank's
// round counts as one; `samples` counts what was emitted.
void run_rounds(benchmark::State& state, Layout layout) {
  const int world = static_cast<int>(state.range(0));
  const std::int64_t data_size = 32 * kWindow * world;
  const BatchingOptions chosen = options(layout);
  const std::vector<Item> all = items(static_cast<std::size_t>(data_size));
  const Prepare prepare = [&](ViewId view) {
    Item item = all[static_cast<std::size_t>(view)];
    item.supervised = item.length;
    return item;
  };
  std::int64_t rounds = 0;
  std::int64_t samples = 0;
  for (auto _ : state) {
    std::vector<Rounds> ranks = start_epoch(chosen, data_size, world);
    while (!ranks.front().ended()) {
      const auto slots = lock_step_round(ranks, prepare);
      benchmark::DoNotOptimize(slots.data());
      rounds += world;
    }
    samples += data_size;
  }
  state.SetItemsProcessed(rounds);
  state.counters["samples"] =
      benchmark::Counter(static_cast<double>(samples), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(run_rounds, greedy, Layout::padded)->Arg(1)->Arg(8)->ArgName("ranks");
BENCHMARK_CAPTURE(run_rounds, fit, Layout::flat)->Arg(1)->Arg(8)->ArgName("ranks");

}  // namespace
