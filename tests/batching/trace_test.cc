// The checker must find each kind of fault: a good trace is changed in one place at a time.
#include "trace.h"

#include <algorithm>

#include "catch.h"
#include "scenario.h"

using namespace odb;

namespace {

struct Spoilt {
  const char* what;
  void (*spoil)(Trace&);
  const char* fault;
};

// Three ranks, of which the last runs dry early.
Scenario scenario() {
  Scenario s;
  s.world = 3;
  s.data_size = 41;
  s.lengths = Lengths::constant;
  BatchingOptions o;
  o.l_max = 10;
  o.grouping = Grouping::greedy;
  o.window = 4;
  s.options = resolve(o, Layout::flat);
  return s;
}

Slot& last_data(std::vector<Slot>& slots) {
  return *std::find_if(slots.rbegin(), slots.rend(),
                       [](const Slot& slot) { return slot.kind == SlotKind::data; });
}

}  // namespace

TEST_CASE("a good trace has no fault, for any order of ranks") {
  const Trace trace = Run(scenario()).to_end();
  const std::string faults = faults_of(scenario(), trace);
  INFO(faults);
  CHECK(faults.empty());
  TraceChecker checker(scenario().options, 41, 3);
  for (std::size_t slot = 0; slot < trace[0].size(); ++slot)
    for (int rank = 2; rank >= 0; --rank)
      checker.add(rank, trace[static_cast<std::size_t>(rank)][slot]);
  checker.finish(true);
  CHECK(checker.faults().empty());
}

TEST_CASE("each kind of fault is found and named") {
  const Spoilt cases[] = {
      {"a slot is missing", [](Trace& t) { t[1].erase(t[1].begin() + 2); }, "slot 3, expected 2"},
      {"a view is lost",
       [](Trace& t) {
         Slot& slot = last_data(t[0]);
         const std::vector<Item> rows(slot.group.rows.begin(), slot.group.rows.end() - 1);
         slot.group = make_group(rows);
         if (rows.empty()) slot.kind = SlotKind::idle;
       },
       "views came"},
      {"a view comes twice",
       [](Trace& t) { t[0][0].group.rows[0].view = t[1][0].group.rows[0].view; },
       "comes a second time"},
      {"totals are of another slot", [](Trace& t) { ++t[2][1].totals.tokens; },
       "another kind, round, place, totals"},
      {"totals are wrong on all ranks",
       [](Trace& t) {
         for (auto& slots : t)
           ++slots[1].totals.tokens;
       },
       "slot 1: totals are"},
      {"a step ends on one rank only",
       [](Trace& t) { t[0][1].last_of_step = !t[0][1].last_of_step; }, "end of step"},
      {"sums are not those of the rows", [](Trace& t) { ++t[0][0].group.sums.tokens; },
       "not those of its rows"},
      {"over budget",
       [](Trace& t) {
         Slot& slot = t[0][0];
         slot.group.rows[0].length = 9;
         slot.group = make_group(slot.group.rows);
       },
       "of a budget of 10"},
      {"marked over budget", [](Trace& t) { t[0][0].over_budget = true; }, "marked true"},
      {"an empty group", [](Trace& t) { t[0][0].group = {}; }, "0 rows in a slot of kind 0"},
      {"an idle slot with rows", [](Trace& t) { t[0][0].kind = SlotKind::idle; },
       "rows in a slot of kind 1"},
      {"no end slot", [](Trace& t) { t[1].pop_back(); }, "rank 1: no end slot"},
      {"a slot after the end",
       [](Trace& t) {
         Slot slot = t[1].back();
         ++slot.number;
         t[1].push_back(slot);
       },
       "after the end slot"},
      {"a view outside the data", [](Trace& t) { t[0][0].group.rows[0].view = 41; },
       "view 41 of 41"},
  };
  const Trace good = Run(scenario()).to_end();
  for (const Spoilt& c : cases) {
    Trace trace = good;
    c.spoil(trace);
    INFO(c.what);
    CHECK_THAT(faults_of(scenario(), trace), Catch::Contains(c.fault));
  }
}

TEST_CASE("data after an idle round, idle everywhere, and more rounds than views are faults") {
  BatchingOptions o = resolve({}, Layout::flat);
  const auto slot = [](std::int64_t number, std::int64_t round, ViewId view) {
    Slot s;
    s.number = number;
    s.round = round;
    if (view >= 0) {
      s.kind = SlotKind::data;
      const Item row{view, 5, 5};
      s.group = make_group({&row, 1});
      s.totals = {5, 5, 1, 1};
    }
    return s;
  };
  const auto faults_in = [&](const std::vector<std::pair<int, Slot>>& slots) {
    TraceChecker checker(o, 10, 1);
    for (const auto& [rank, s] : slots)
      checker.add(rank, s);
    checker.finish(false);
    std::string text;
    for (const std::string& fault : checker.faults())
      text += fault + "\n";
    return text;
  };
  CHECK(faults_in({{0, slot(0, 0, 1)}, {0, slot(1, 1, 2)}}).empty());
  CHECK_THAT(faults_in({{0, slot(0, 0, -1)}, {0, slot(1, 1, 2)}, {0, slot(2, 2, 3)}}),
             Catch::Contains("no rank has data") && Catch::Contains("data after an idle round"));
  CHECK_THAT(faults_in({{0, slot(0, 0, 1)}, {0, slot(1, 0, -1)}}),
             Catch::Contains("with and without data"));
  CHECK_THAT(faults_in({{0, slot(0, 0, 1)}, {0, slot(1, 1, 1)}, {0, slot(2, 2, 1)}}),
             Catch::Contains("3 rounds for 1 views"));
}

TEST_CASE("a run that continues on other ranks must continue at the same slot") {
  Scenario s = scenario();
  Run run(s);
  const Trace part = run.round();
  TraceChecker checker(s.options, 41, 3);
  checker.add(0, part[0][0]);
  checker.continue_on(2, 1);
  CHECK(checker.faults().size() == 3);  // slot 0 of one rank only; two ranks stopped before slot 0
}
