#include "plan/simulation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/index.h"
#include "batching/lock_step.h"
#include "batching/rounds.h"
#include "batching/strategies/make_source.h"
#include "plan/meters.h"

namespace odb {
namespace {

std::vector<Rounds> make_ranks(const SimulationInput& input, const Epoch& epoch) {
  std::vector<Rounds> ranks;
  ranks.reserve(static_cast<std::size_t>(input.world));
  for (int rank = 0; rank < input.world; ++rank) {
    const RunShape shape{
        .rank = rank, .world = input.world, .seed = epoch.seed, .data_size = epoch.data_size};
    const RoundStart start = start_of_epoch(epoch, rank, input.world);
    ranks.emplace_back(shape, epoch.options, start, make_source(epoch, start));
  }
  return ranks;
}

// Fills the windows of all ranks. Returns the number of samples that each drew.
std::vector<std::int64_t> fill_all(std::vector<Rounds>& ranks,
                                   const std::vector<std::int32_t>& lengths) {
  std::vector<std::int64_t> drawn(ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Prepare prepare = [&](ViewId view) {
      ++drawn[rank];
      const std::int32_t length = at(lengths, view);
      return Item{.view = view, .length = length, .supervised = length};
    };
    fill(ranks[rank], prepare);
  }
  return drawn;
}

bool any_drawn_out(const std::vector<Rounds>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(),
                     [](const Rounds& rounds) { return rounds.upcoming(1).empty(); });
}

bool is_data_round(const std::vector<Slot>& slots) {
  return slots.front().kind == SlotKind::data || slots.front().kind == SlotKind::idle;
}

}  // namespace

SimulationResult simulate(const SimulationInput& input) {
  if (!input.lengths || input.lengths->empty())
    throw UsageError("no samples to simulate; expected at least one length");
  ODB_CHECK_GE(input.world, 1);
  BatchingOptions options = input.options;
  options.quadratic_cost = input.step_time.quadratic_cost();
  const Epoch epoch = make_epoch(
      options, input.seed, static_cast<std::int64_t>(input.lengths->size()), 0, input.lengths);
  std::vector<Rounds> ranks = make_ranks(input, epoch);
  SlotMeters meters(cost_model(options), input.step_time, options.l_max, input.world);
  Timeline timeline(input.pipeline, input.world, input.step_time.alignment_seconds(input.world));
  std::int64_t rounds = 0;
  bool tail = false;
  while (true) {
    const std::vector<std::int64_t> drawn = fill_all(ranks, *input.lengths);
    tail = tail || any_drawn_out(ranks);
    const auto slots = lock_step_round(ranks, {});
    if (!is_data_round(slots.front())) break;
    ++rounds;
    meters.begin_round(slots.front().size(), tail);
    for (const std::vector<Slot>& slots_of_rank : slots)
      meters.add(slots_of_rank);
    timeline.round(drawn);
    for (const double slowest : meters.end_round())
      timeline.slot(input.step_time.slot_seconds(slowest, input.world));
  }
  SimulationResult result = meters.result();
  result.rounds = rounds;
  result.seconds = timeline.seconds();
  result.tokens_per_second = ratio(static_cast<double>(result.tokens), result.seconds);
  result.data_wait_fraction = ratio(timeline.waited(), result.seconds);
  return result;
}

}  // namespace odb
