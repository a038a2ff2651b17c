// The guarantees of batching over random runs: any data, ranks, window, budget, layout, rule, and
// any stop, restart or change of the number of ranks.
#include <algorithm>
#include <map>
#include <set>

#include "batching/redeal.h"
#include "property.h"
#include "scenario.h"
#include "trace.h"

using namespace odb;

namespace {

Scenario any_scenario(std::int64_t max_views = 1200) {
  // Always at full size: small cases come from the scenario's own choices, and from shrinking.
  const auto seed = *rc::gen::resize(100, rc::gen::arbitrary<std::uint64_t>());
  const int size = *rc::gen::inRange(0, 100);
  Scenario scenario = random_scenario(seed, size, max_views);
  std::ostringstream text;
  text << scenario;
  RC_LOG() << text.str() << "\n";
  return scenario;
}

// Continues an epoch from parsed states: the slots after those already taken.
Trace continued(const Scenario& scenario, const std::vector<OwnedState>& states) {
  std::vector<RoundStart> starts;
  starts.reserve(states.size());
  for (const OwnedState& state : states)
    starts.push_back(state.state.start);
  Run run(scenario, starts, nullptr);
  Trace trace = run.to_end();
  for (std::size_t rank = 0; rank < trace.size(); ++rank) {
    const DataState& state = states[rank].state;
    check_replayed(state, trace[rank]);
    trace[rank].erase(trace[rank].begin(), trace[rank].begin() + state.slots_taken);
  }
  return trace;
}

}  // namespace

TEST_CASE("every run keeps the guarantees of batching") {
  check_property("guarantees", 1500, [] {
    const Scenario scenario = any_scenario();
    Run run(scenario);
    const Trace trace = run.to_end();
    const std::string faults = faults_of(scenario, trace);
    RC_LOG() << faults;
    RC_ASSERT(faults.empty());
    std::int64_t trained = 0;
    for (const auto& slots : trace)
      for (const Slot& slot : slots)
        trained += slot.group.sums.rows;
    std::int64_t remaining = 0;
    std::int64_t left_out = 0;
    for (int rank = 0; rank < scenario.world; ++rank) {
      remaining += run.rank(rank).remaining();
      for (const Slot& slot : trace[static_cast<std::size_t>(rank)])
        left_out += static_cast<std::int64_t>(slot.left_out.size());
    }
    RC_ASSERT(trained + left_out + remaining == scenario.data_size);
    RC_ASSERT(!scenario.options.join || remaining == 0);
  });
}

TEST_CASE("with --align balanced all groups are full until a rank has drawn all its views") {
  check_property("full groups", 200, [] {
    Scenario scenario = any_scenario();
    scenario.options.strategy = Strategy::odb;
    scenario.options.align = Align::balanced;
    scenario.options.grouping = Grouping::greedy;
    scenario.options.join = true;
    Run run(scenario);
    while (!run.ended()) {
      std::vector<bool> drawn;
      for (int rank = 0; rank < scenario.world; ++rank) {
        fill(run.rank(rank), [&](ViewId view) { return scenario.prepare(view); });
        drawn.push_back(run.rank(rank).upcoming(1).empty());
      }
      const Trace part = run.round();
      for (std::size_t rank = 0; rank < part.size(); ++rank) {
        for (const Slot& slot : part[rank]) {
          if (drawn[rank] || slot.kind != SlotKind::data) continue;
          const CostModel model = cost_model(scenario.options);
          const std::int64_t row = model.row_length(slot.group.sums.longest);
          RC_ASSERT((slot.group.sums.rows + 1) * row > scenario.options.l_max);
        }
      }
    }
  });
}

TEST_CASE("a window stays within its bounds") {
  check_property("window bounds", 200, [] {
    Scenario scenario = any_scenario();
    scenario.options.strategy = Strategy::odb;
    Run run(scenario);
    while (!run.ended()) {
      for (int rank = 0; rank < scenario.world; ++rank) {
        fill(run.rank(rank), [&](ViewId view) { return scenario.prepare(view); });
        const auto undrawn =
            static_cast<std::int64_t>(run.rank(rank).upcoming(scenario.data_size).size());
        const std::int64_t held = run.rank(rank).remaining() - undrawn;
        RC_ASSERT(held <= scenario.options.window + scenario.options.l_max);
      }
      run.round();
    }
  });
}

TEST_CASE("all ranks stopped at any slot continue with the identical sequence") {
  check_property("stop and restore", 500, [] {
    const Scenario scenario = any_scenario(600);
    const Trace whole = Run(scenario).to_end();
    const auto slots = static_cast<std::int64_t>(whole.front().size());
    const std::int64_t stop = *rc::gen::inRange<std::int64_t>(1, slots + 1);
    Run run(scenario);
    Stopped stopped = stop_after(scenario, run, stop);
    append(stopped.emitted, continued(scenario, parse_states(stopped.states)));
    RC_ASSERT(stopped.emitted == whole);
  });
}

TEST_CASE("ranks that are replaced at any round change nothing") {
  check_property("one rank restored", 400, [] {
    const Scenario scenario = any_scenario(600);
    const Trace whole = Run(scenario).to_end();
    Rng rng(*rc::gen::resize(100, rc::gen::arbitrary<std::uint64_t>()), RandomPurpose::tests);
    Run run(scenario);
    Trace trace(static_cast<std::size_t>(scenario.world));
    while (!run.ended()) {
      const auto rank = static_cast<int>(rng.below(static_cast<std::uint64_t>(scenario.world)));
      if (rng.below(2) == 0)  // dies in the middle of its refill
        for (const ViewId view :
             run.rank(rank).upcoming(static_cast<std::int64_t>(rng.below(50)))) {
          if (!run.rank(rank).filling()) break;
          const Prepared prepared = scenario.prepare(view);
          if (const auto* item = std::get_if<Item>(&prepared))
            run.rank(rank).deliver(*item);
          else
            run.rank(rank).leave_out(std::get<LeftOut>(prepared));
        }
      run.restart(rank);
      append(trace, run.round());
    }
    RC_ASSERT(trace == whole);
  });
}

TEST_CASE("the number of ranks may change many times: every view still comes once") {
  check_property("change of ranks", 500, [] {
    Scenario scenario = any_scenario(800);
    scenario.options.join = true;
    const Epoch epoch = scenario.epoch();
    TraceChecker checker(scenario.options, scenario.data_size, scenario.world);
    std::vector<ViewId> leftovers;
    auto run = std::make_unique<Run>(scenario);
    const auto check = [&](const Trace& trace) {
      for (std::size_t rank = 0; rank < trace.size(); ++rank)
        for (const Slot& slot : trace[rank])
          checker.add(static_cast<int>(rank), slot);
    };
    const int changes = *rc::gen::inRange(1, 6);
    bool ended = false;
    for (int change = 0; change < changes; ++change) {
      const Stopped stopped = stop_after(scenario, *run, *rc::gen::inRange<std::int64_t>(1, 12));
      check(stopped.emitted);
      ended = stopped.emitted.front().back().kind == SlotKind::end;
      if (ended) break;
      const auto states = parse_states(stopped.states);
      scenario.world = *rc::gen::inRange(1, 20);
      Redealt redealt = redeal(states, leftovers, views_of_position(epoch), scenario.world);
      leftovers = redealt.leftovers;
      std::size_t pieces = 0;
      for (const RoundStart& start : redealt.starts)
        pieces += start.sampler.progressions.size();
      RC_ASSERT(pieces <= 64u + 20u * static_cast<std::size_t>(change + 1));
      checker.continue_on(scenario.world, redealt.starts.front().next_slot);
      run = std::make_unique<Run>(scenario, redealt.starts,
                                  std::make_shared<std::vector<ViewId>>(leftovers));
    }
    if (!ended) check(run->to_end());
    checker.finish(true);
    std::string faults;
    for (const std::string& fault : checker.faults())
      faults += fault + "\n";
    RC_LOG() << faults;
    RC_ASSERT(faults.empty());
  });
}
