#include "scenario.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "base/error.h"
#include "trace.h"

namespace odb {
namespace {

std::int64_t pick(Rng& rng, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
}

std::int64_t random_length(const Scenario& scenario, ViewId view, Rng& rng) {
  const std::int64_t l_max = scenario.options.l_max;
  const double share = static_cast<double>(view) / static_cast<double>(scenario.data_size);
  switch (scenario.lengths) {
    case Lengths::short_ones:
      return pick(rng, 1, std::max<std::int64_t>(1, l_max / 100));
    case Lengths::wide:
      return std::clamp<std::int64_t>(
          std::llround(static_cast<double>(l_max) / 20 * std::exp(1.25 * rng.normal())), 1, l_max);
    case Lengths::constant:
      return std::max<std::int64_t>(1, l_max * 3 / 10);
    case Lengths::over_budget:
      return rng.below(10) == 0 ? l_max + pick(rng, 1, 50) : pick(rng, 1, l_max);
    case Lengths::drifting:
      return 1 + static_cast<std::int64_t>(share * static_cast<double>(l_max - 1));
  }
  throw InternalError("no such lengths");
}

}  // namespace

Prepared Scenario::prepare(ViewId view) const {
  Rng rng(seed, RandomPurpose::tests, 1, static_cast<std::uint64_t>(view));
  if (pick(rng, 0, 99) < left_out_percent)
    return LeftOut{.view = view, .reason = LeftOutReason::bad_record};
  const auto length = static_cast<std::int32_t>(random_length(*this, view, rng));
  // One in twenty has no supervised token.
  const std::int64_t supervised = rng.below(20) == 0 ? 0 : pick(rng, 1, length);
  return Item{.view = view, .length = length, .supervised = static_cast<std::int32_t>(supervised)};
}

RunShape Scenario::shape(int rank) const {
  return {.rank = rank, .world = world, .seed = seed, .data_size = data_size};
}

Epoch Scenario::epoch() const {
  std::vector<std::int32_t> by_view;
  by_view.reserve(static_cast<std::size_t>(data_size));
  for (ViewId view = 0; view < data_size; ++view) {
    const Prepared prepared = prepare(view);
    const auto* item = std::get_if<Item>(&prepared);
    by_view.push_back(item == nullptr ? 0 : item->length);
  }
  return make_epoch(options, seed, data_size, 0,
                    std::make_shared<const std::vector<std::int32_t>>(std::move(by_view)));
}

std::ostream& operator<<(std::ostream& out, const Scenario& s) {
  return out << s.world << " ranks, " << s.data_size << " views, seed " << s.seed << ", lengths "
             << static_cast<int>(s.lengths) << ", left out " << s.left_out_percent << " %, "
             << options_fingerprint(s.options);
}

Scenario random_scenario(std::uint64_t seed, int size, std::int64_t max_views) {
  Rng rng(seed, RandomPurpose::tests);
  Scenario s;
  s.seed = seed;
  s.world = static_cast<int>(rng.below(4) == 0 ? pick(rng, 1, 64) : pick(rng, 1, 1 + size / 15));
  s.data_size = rng.below(8) == 0 ? pick(rng, 0, s.world + 1) : pick(rng, 0, max_views);
  s.lengths = static_cast<Lengths>(rng.below(5));
  s.left_out_percent = static_cast<int>(rng.below(3) == 0 ? pick(rng, 1, 100) : 0);
  BatchingOptions o;
  o.l_max = rng.below(6) == 0 ? pick(rng, 1, 20) : pick(rng, 20, 4000);
  o.window = rng.below(3) == 0 ? pick(rng, 1, 8) : pick(rng, 8, 600);
  o.layout = rng.below(2) == 0 ? Layout::flat : Layout::padded;
  o.grouping = o.layout == Layout::flat && rng.below(2) == 0 ? Grouping::fit : Grouping::greedy;
  o.align = rng.below(2) == 0 ? Align::paper : Align::balanced;
  o.pair_by = rng.below(4) == 0 ? PairBy::random : PairBy::cost;
  o.round_groups = pick(rng, 1, 20);
  o.pad_multiple = pick(rng, 1, 16);
  o.quadratic_cost = rng.below(2) == 0 ? 0 : rng.uniform() / 100;
  o.join = rng.below(4) != 0 || s.data_size < s.world;
  const std::uint64_t step = rng.below(3);
  if (step == 0) o.accumulate = pick(rng, 1, 7);
  if (step == 1) o.global_batch_tokens = pick(rng, 1, 3 * o.l_max * s.world);
  if (step == 2) o.global_batch_samples = pick(rng, 1, 100);
  if (rng.below(2) == 0) o.strategy = static_cast<Strategy>(rng.below(7));
  if (o.strategy == Strategy::packing && o.layout == Layout::padded) o.strategy = Strategy::gmt;
  o.batch_size = pick(rng, 1, 12);
  o.bucket_pool_factor = pick(rng, 1, 10);
  s.options = resolve(o, Layout::flat);
  // Without join, a strategy that plans needs a batch for each rank.
  if (const auto plan = s.epoch().plan; plan && plan->size() < s.world) s.options.join = true;
  return s;
}

Run::Run(const Scenario& scenario) : scenario_(scenario), epoch_(scenario.epoch()) {
  for (int rank = 0; rank < scenario.world; ++rank)
    ranks_.push_back(make(rank, start_of_epoch(epoch_, rank, scenario.world)));
}

Run::Run(const Scenario& scenario, const std::vector<RoundStart>& starts, LeftoverList leftovers)
    : scenario_(scenario), epoch_(scenario.epoch()), leftovers_(std::move(leftovers)) {
  for (int rank = 0; rank < scenario.world; ++rank)
    ranks_.push_back(make(rank, starts[static_cast<std::size_t>(rank)]));
}

Rounds Run::make(int rank, const RoundStart& start) const {
  return Rounds(scenario_.shape(rank), scenario_.options, start,
                make_source(epoch_, start, leftovers_));
}

Trace Run::round() {
  return lock_step_round(ranks_, [this](ViewId view) { return scenario_.prepare(view); });
}

Trace Run::to_end() {
  Trace all(ranks_.size());
  while (!ended())
    append(all, round());
  return all;
}

void Run::restart(int index) {
  auto& rank = ranks_[static_cast<std::size_t>(index)];
  rank = make(index, rank.start());
}

void append(Trace& all, const Trace& part) {
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    all[rank].insert(all[rank].end(), part[rank].begin(), part[rank].end());
}

Stopped stop_after(const Scenario& scenario, Run& run, std::int64_t slots) {
  Stopped stopped{.emitted = Trace(static_cast<std::size_t>(scenario.world)),
                  .states = std::vector<std::string>(static_cast<std::size_t>(scenario.world))};
  const std::int64_t first = run.rank(0).start().next_slot;
  for (bool enough = false; !enough && !run.ended();) {
    std::vector<RoundStart> starts;
    starts.reserve(static_cast<std::size_t>(scenario.world));
    for (int rank = 0; rank < scenario.world; ++rank)
      starts.push_back(run.rank(rank).start());
    Trace part = run.round();
    for (std::size_t rank = 0; rank < part.size(); ++rank) {
      std::vector<Slot>& slots_of_rank = part[rank];
      const std::int64_t needed = first + slots - slots_of_rank.front().number;
      enough = needed <= static_cast<std::int64_t>(slots_of_rank.size());
      if (enough) slots_of_rank.resize(static_cast<std::size_t>(needed));
      const StateOwner owner{.rank = static_cast<int>(rank),
                             .world = scenario.world,
                             .seed = scenario.seed,
                             .data_size = scenario.data_size,
                             .options = options_fingerprint(scenario.options)};
      stopped.states[rank] =
          serialize(OwnedState{.owner = owner, .state = state_after(starts[rank], slots_of_rank)});
    }
    append(stopped.emitted, part);
  }
  return stopped;
}

std::vector<OwnedState> parse_states(const std::vector<std::string>& states) {
  std::vector<OwnedState> parsed;
  parsed.reserve(states.size());
  for (const std::string& bytes : states)
    parsed.push_back(parse_state(bytes, "state"));
  return parsed;
}

std::string faults_of(const Scenario& scenario, const Trace& trace) {
  TraceChecker checker(scenario.options, scenario.data_size, scenario.world);
  for (std::size_t rank = 0; rank < trace.size(); ++rank)
    for (const Slot& slot : trace[rank])
      checker.add(static_cast<int>(rank), slot);
  checker.finish(true);
  std::string faults;
  for (const std::string& fault : checker.faults())
    faults += fault + "\n";
  return faults;
}

}  // namespace odb
