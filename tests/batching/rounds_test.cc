// Small runs with every slot listed, and invalid calls that rounds refuse.
#include "batching/rounds.h"

#include <algorithm>

#include "base/error.h"
#include "batching/odb_source.h"
#include "catch.h"
#include "scenario.h"

using namespace odb;

namespace {

// One rank that gets its samples from the test.
Rounds one_rank(const BatchingOptions& options, std::int64_t data_size, int world = 1) {
  const RoundStart start = first_round(options, data_size, 0, world, 0);
  return Rounds({.rank = 0, .world = world, .seed = 1, .data_size = data_size}, options, start,
                std::make_unique<OdbSource>(options, Permutation(data_size, 1, 0), nullptr, start));
}

// Deals lengths by view.
Prepare by_view(std::vector<std::int32_t> lengths) {
  return [lengths](ViewId view) -> Prepared {
    const std::int32_t length = lengths[static_cast<std::size_t>(view)];
    if (length == 0) return LeftOut{view, LeftOutReason::bad_record};
    return Item{view, length, 1};
  };
}

std::vector<std::int32_t> lengths_of(const Slot& slot) {
  std::vector<std::int32_t> lengths;
  lengths.reserve(slot.group.rows.size());
  for (const Item& item : slot.group.rows)
    lengths.push_back(item.length);
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

std::vector<Slot> all_slots(Rounds rounds, const Prepare& prepare) {
  std::vector<Rounds> ranks;
  ranks.push_back(std::move(rounds));
  std::vector<Slot> slots;
  while (!ranks.front().ended()) {
    Trace round = lock_step_round(ranks, prepare);
    for (Slot& slot : round.front())
      slots.push_back(std::move(slot));
  }
  return slots;
}

BatchingOptions options(Grouping grouping, std::int64_t l_max) {
  BatchingOptions o;
  o.grouping = grouping;
  o.l_max = l_max;
  return o;
}

}  // namespace

TEST_CASE("one rank, three groups: slots, totals, step ends, end slot") {
  BatchingOptions o = options(Grouping::greedy, 10);
  o.accumulate = 2;
  o = resolve(o, Layout::flat);
  auto slots = all_slots(one_rank(o, 6), by_view({5, 5, 10, 0, 2, 2}));
  REQUIRE(slots.size() == 5);
  std::sort(slots.begin(), slots.begin() + 3, [](const Slot& a, const Slot& b) {
    return a.totals.tokens > b.totals.tokens ||
           (a.totals.tokens == b.totals.tokens && a.totals.samples < b.totals.samples);
  });
  CHECK(lengths_of(slots[0]) == std::vector<std::int32_t>{10});
  CHECK(lengths_of(slots[1]) == std::vector<std::int32_t>{5, 5});
  CHECK(lengths_of(slots[2]) == std::vector<std::int32_t>{2, 2});
  std::sort(slots.begin(), slots.begin() + 3,
            [](const Slot& a, const Slot& b) { return a.number < b.number; });
  // The left-out row is in the first slot.
  CHECK(slots[0].left_out == std::vector<LeftOut>{{3, LeftOutReason::bad_record}});
  CHECK(slots[0].totals.left_out == 1);
  CHECK(slots[1].left_out.empty());
  CHECK(slots[1].totals.left_out == 0);
  const auto pair = std::ranges::find(slots, 10, [](const Slot& slot) {
    return slot.totals.samples == 2 ? slot.totals.tokens : 0;
  });
  CHECK(pair->totals.supervised == 2);
  CHECK(pair->totals.supervised_groups == 1);
  const bool ends[] = {false, true, false, true, false};
  const SlotKind kinds[] = {SlotKind::data, SlotKind::data, SlotKind::data, SlotKind::closing,
                            SlotKind::end};
  for (std::size_t i = 0; i < 5; ++i) {
    INFO("slot " << i);
    CHECK(slots[i].number == static_cast<std::int64_t>(i));
    CHECK(slots[i].last_of_step == ends[i]);
    CHECK(slots[i].kind == kinds[i]);
    CHECK_FALSE(slots[i].over_budget);
  }
}

TEST_CASE("no closing slot when the last step is complete") {
  BatchingOptions o = options(Grouping::greedy, 10);
  o.accumulate = 3;
  const auto slots = all_slots(one_rank(resolve(o, Layout::flat), 3), by_view({10, 9, 8}));
  REQUIRE(slots.size() == 4);
  CHECK(slots[2].last_of_step);
  CHECK(slots[3].kind == SlotKind::end);
}

TEST_CASE("an epoch without samples is one end slot, on any number of ranks") {
  const BatchingOptions o = resolve(options(Grouping::fit, 10), Layout::flat);
  const auto none = all_slots(one_rank(o, 0), by_view({}));
  REQUIRE(none.size() == 1);
  CHECK(none[0].kind == SlotKind::end);
  CHECK_FALSE(none[0].last_of_step);
  // All rows are left out: they are in the end slot.
  const auto bad = all_slots(one_rank(o, 2), by_view({0, 0}));
  REQUIRE(bad.size() == 1);
  CHECK(bad[0].left_out.size() == 2);
}

TEST_CASE("more ranks than samples: the others are idle, and nothing is lost") {
  Scenario s;
  s.world = 5;
  s.data_size = 2;
  s.options = resolve(options(Grouping::fit, 1000), Layout::flat);
  const Trace trace = Run(s).to_end();
  const std::string faults = faults_of(s, trace);
  INFO(faults);
  CHECK(faults.empty());
  CHECK(trace[0].front().kind == SlotKind::data);
  CHECK(trace[4].front().kind == SlotKind::idle);
}

TEST_CASE("a sample over the budget is a group of its own and is marked") {
  for (const Grouping grouping : {Grouping::greedy, Grouping::fit}) {
    const BatchingOptions o = resolve(options(grouping, 10), Layout::flat);
    int marked = 0;
    for (const Slot& slot : all_slots(one_rank(o, 4), by_view({3, 25, 3, 3}))) {
      CHECK(slot.over_budget == (lengths_of(slot) == std::vector<std::int32_t>{25}));
      marked += slot.over_budget;
    }
    CHECK(marked == 1);
  }
}

TEST_CASE("a row without a supervised token is left out with that reason") {
  const BatchingOptions o = resolve(options(Grouping::fit, 10), Layout::flat);
  const auto slots = all_slots(
      one_rank(o, 2), [](ViewId view) -> Prepared { return Item{view, 4, view == 0 ? 0 : 4}; });
  CHECK(slots[0].left_out == std::vector<LeftOut>{{0, LeftOutReason::no_supervised_token}});
  CHECK(lengths_of(slots[0]) == std::vector<std::int32_t>{4});
}

TEST_CASE("lengths below one are refused with the sample's number") {
  const BatchingOptions o = resolve(options(Grouping::fit, 10), Layout::flat);
  for (const std::int32_t length : {0, -7}) {
    Rounds rounds = one_rank(o, 3);
    const ViewId view = rounds.upcoming(1).front();
    CHECK_THROWS_WITH(rounds.deliver({view, length, 1}),
                      Catch::Contains(fmt::format("sample {} has {} tokens", view, length)));
    CHECK_THROWS_AS(rounds.deliver({view, 3, -1}), DataError);
  }
}

TEST_CASE("answers out of order and offers before the window is full break an invariant") {
  const BatchingOptions o = resolve(options(Grouping::fit, 10), Layout::flat);
  Rounds rounds = one_rank(o, 3);
  const std::vector<ViewId> views = rounds.upcoming(2);
  CHECK_THROWS_AS(rounds.deliver({views[1], 3, 1}), InternalError);
  CHECK_THROWS_AS(rounds.offer(), InternalError);
}

TEST_CASE("without join, fewer samples than ranks are refused and the first dry rank ends it") {
  BatchingOptions o = options(Grouping::greedy, 10);
  o.join = false;
  o = resolve(o, Layout::flat);
  CHECK_THROWS_WITH(one_rank(o, 3, 4), Catch::Contains("3 samples on 4 ranks"));
  o.strategy = Strategy::sorted;
  CHECK_THROWS_WITH(one_rank(o, 3, 4), Catch::Contains("3 batches on 4 ranks"));
  o.strategy = Strategy::odb;

  Scenario s;
  s.world = 2;
  s.data_size = 41;
  s.options = o;
  s.lengths = Lengths::constant;  // 3 of 10: three a group
  Run run(s);
  const Trace trace = run.to_end();
  const std::string faults = faults_of(s, trace);
  INFO(faults);
  CHECK(faults.empty());
  std::int64_t seen = run.rank(0).remaining() + run.rank(1).remaining();
  for (const auto& slots : trace)
    for (const Slot& slot : slots) {
      CHECK(slot.kind != SlotKind::idle);
      seen += slot.group.sums.rows + static_cast<std::int64_t>(slot.left_out.size());
    }
  CHECK(seen == 41);
}

TEST_CASE("a failed rank ends the round on all ranks, which know which rank and code") {
  const BatchingOptions o = resolve(options(Grouping::fit, 10), Layout::flat);
  Rounds rounds = one_rank(o, 3);
  // In the middle of filling.
  const auto maxima = rounds.offer(3);
  CHECK(rounds.agree(maxima).empty());
  REQUIRE(rounds.failure());
  CHECK(rounds.failure()->code == 3);
  CHECK(rounds.failure()->rank == 0);
  CHECK_THROWS_AS(rounds.total({}), InternalError);
}

TEST_CASE("ranks with different options are detected before the first slot") {
  std::vector<Rounds> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    const BatchingOptions o = resolve(options(Grouping::fit, 10 + rank), Layout::flat);
    const RoundStart start = first_round(o, 0, rank, 2, 0);
    ranks.emplace_back(RunShape{rank, 2, 1, 0}, o, start,
                       std::make_unique<OdbSource>(o, Permutation(0, 1, 0), nullptr, start));
  }
  CHECK_THROWS_WITH(lock_step_round(ranks, by_view({})),
                    Catch::Contains("compare the options, the seed, the data files"));
  CHECK_THROWS_AS(lock_step_round(ranks, by_view({})), UsageError);
}

#ifndef NDEBUG
TEST_CASE("debug builds assert the budget of the groups of a source") {
  // A source with a larger budget than the round.
  const BatchingOptions o = resolve(options(Grouping::greedy, 20), Layout::flat);
  const BatchingOptions smaller = resolve(options(Grouping::greedy, 10), Layout::flat);
  const RoundStart start = first_round(o, 4, 0, 1, 0);
  Rounds rounds({.rank = 0, .world = 1, .seed = 1, .data_size = 4}, smaller, start,
                std::make_unique<OdbSource>(o, Permutation(4, 1, 0), nullptr, start));
  CHECK_THROWS_WITH(all_slots(std::move(rounds), by_view({5, 5, 5, 5})),
                    Catch::Contains("4 rows take 20 of 10"));
}
#endif

TEST_CASE("views that killed a worker are remembered from round to round") {
  const BatchingOptions o = resolve(options(Grouping::greedy, 10), Layout::flat);
  std::vector<Rounds> ranks;
  ranks.push_back(one_rank(o, 100));
  const LeftOut bad{42, LeftOutReason::crashed_worker};
  ranks[0].remember_bad(bad);
  ranks[0].remember_bad(bad);
  CHECK(ranks[0].is_known_bad(42));
  CHECK_FALSE(ranks[0].is_known_bad(41));
  CHECK(ranks[0].start().known_bad == std::vector<LeftOut>{bad});
  lock_step_round(ranks, [](ViewId view) -> Prepared { return Item{view, 10, 1}; });
  CHECK(ranks[0].start().known_bad == std::vector<LeftOut>{bad});
}

TEST_CASE("no view waits forever: overdue groups are chosen first") {
  // A window of 64 makes 32 groups, of which one is emitted per round: by chance alone one in sixty
  // would wait longer than the limit of 4 * 32 rounds.
  BatchingOptions o = options(Grouping::greedy, 10);
  o.round_groups = 1;
  o.window = 64;
  o = resolve(o, Layout::flat);
  std::vector<Rounds> ranks;
  ranks.push_back(one_rank(o, 6000));
  std::int64_t longest_wait = 0;
  while (!ranks[0].ended()) {
    for (const WindowEntry& entry : ranks[0].start().window)
      longest_wait = std::max(longest_wait, entry.sent_back);
    lock_step_round(ranks, [](ViewId view) -> Prepared {
      return Item{view, static_cast<std::int32_t>(4 + view % 2), 1};
    });
  }
  CHECK(longest_wait > 4 * 32);
  CHECK(longest_wait <= 4 * 32 + 32);
}

TEST_CASE("the groups of a slot have similar cost, unless --pair-by random") {
  const auto spread = [](PairBy pair_by) {
    Scenario s;
    s.world = 8;
    s.data_size = 8 * 400;
    s.lengths = Lengths::wide;
    BatchingOptions o = options(Grouping::greedy, 1000);
    o.pair_by = pair_by;
    o.layout = Layout::padded;
    o.quadratic_cost = 0.01;
    s.options = resolve(o, Layout::flat);
    const CostModel model = cost_model(s.options);
    const Trace trace = Run(s).to_end();
    double slowest = 0;
    double mean = 0;
    for (std::size_t i = 0; i < trace[0].size(); ++i) {
      double most = 0;
      double sum = 0;
      bool whole = true;
      for (const auto& slots : trace) {
        whole = whole && slots[i].kind == SlotKind::data;
        const double cost = model.cost(slots[i].group.sums);
        most = std::max(most, cost);
        sum += cost;
      }
      if (!whole) continue;
      slowest += most;
      mean += sum / 8;
    }
    return slowest / mean - 1;
  };
  const double matched = spread(PairBy::cost);
  const double random = spread(PairBy::random);
  INFO("matched " << matched << ", random " << random);
  CHECK(matched < 0.25);
  CHECK(random > 4 * matched);
}
