// The record of a refill: its bytes, and that a round formed from it equals the recorded round.
#include "batching/refill_record.h"

#include "base/error.h"
#include "catch.h"
#include "scenario.h"

using namespace odb;

TEST_CASE("refill record: what is written is read, and damage is found") {
  const RefillRecord record{
      .items = {{.view = 7, .length = 300, .supervised = 12},
                {.view = std::int64_t{1} << 34, .length = 1, .supervised = 1}},
      .left_out = {{.view = 3, .reason = LeftOutReason::crashed_worker}}};
  const std::string bytes = serialize(record);
  CHECK(bytes.size() < 2 + 2 * 16 + 6);
  CHECK(parse_refill_record(bytes, "here") == record);
  CHECK(parse_refill_record(serialize(RefillRecord{}), "here") == RefillRecord{});
  CHECK_THROWS_AS(parse_refill_record(std::string_view(bytes).substr(0, bytes.size() - 1), "here"),
                  FileError);
  CHECK_THROWS_AS(parse_refill_record("", "here"), FileError);
}

// Every strategy, window carried over from earlier rounds, rows left out.
TEST_CASE("a round formed from its record is the same, even if no sample can be prepared") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Scenario scenario = random_scenario(3000 + seed, 50, 300);
    scenario.world = 1 + static_cast<int>(seed % 3);
    INFO("seed " << seed << ": " << scenario);
    Run run(scenario);
    while (!run.ended()) {
      std::vector<RoundStart> starts;
      std::vector<RefillRecord> records;
      std::vector<Rounds> again;
      for (int rank = 0; rank < scenario.world; ++rank) {
        starts.push_back(run.rank(rank).start());
        fill(run.rank(rank), [&](ViewId view) { return scenario.prepare(view); });
        records.push_back(run.rank(rank).refill_record());
        const std::string bytes = serialize(records.back());
        again.emplace_back(scenario.shape(rank), scenario.options, starts.back(),
                           make_source(scenario.epoch(), starts.back()));
        again.back().refill_from(parse_refill_record(bytes, "here"));
      }
      const Trace first = run.round();
      const Trace second = lock_step_round(again, [](ViewId view) -> Prepared {
        return LeftOut{.view = view, .reason = LeftOutReason::crashed_worker};
      });
      REQUIRE(first == second);
      for (std::size_t rank = 0; rank < first.size(); ++rank) {
        CHECK(round_checksum(first[rank]) == round_checksum(second[rank]));
        CHECK(again[rank].ended() == run.rank(static_cast<int>(rank)).ended());
        if (!run.ended()) CHECK(again[rank].start() == run.rank(static_cast<int>(rank)).start());
      }
    }
  }
}

TEST_CASE("the record of another round is refused") {
  Scenario scenario = random_scenario(77, 50, 300);
  scenario.world = 1;
  Run run(scenario);
  const RoundStart start = run.rank(0).start();
  fill(run.rank(0), [&](ViewId view) { return scenario.prepare(view); });
  RefillRecord record = run.rank(0).refill_record();
  REQUIRE(record.items.size() > 1);
  const auto form = [&](const RefillRecord& from) {
    Rounds rounds(scenario.shape(0), scenario.options, start, make_source(scenario.epoch(), start));
    rounds.refill_from(from);
  };
  RefillRecord longer = record;
  longer.left_out.push_back({.view = 1 << 20, .reason = LeftOutReason::bad_record});
  CHECK_THROWS_AS(form(longer), InternalError);
  record.items.front().view += 1 << 20;
  CHECK_THROWS_AS(form(record), InternalError);
}

TEST_CASE(
    "the checksum of a round covers kind, step ends, totals and views, what ranks share the rest") {
  Slot slot{.number = 4, .round = 2, .kind = SlotKind::data, .totals = {.supervised = 9}};
  slot.group.rows = {{.view = 5, .length = 3, .supervised = 2}};
  const std::uint64_t checksum = round_checksum(std::vector{slot});
  const auto changed = [&](auto&& change) {
    Slot other = slot;
    change(other);
    return round_checksum(std::vector{other}) != checksum;
  };
  CHECK(round_checksum(std::vector{slot}) == checksum);
  CHECK(round_checksum(std::vector{slot, slot}) != checksum);
  CHECK(changed([](Slot& s) { s.kind = SlotKind::idle; }));
  CHECK(changed([](Slot& s) { s.last_of_step = true; }));
  CHECK(changed([](Slot& s) { s.totals.supervised = 8; }));
  CHECK(changed([](Slot& s) { s.group.rows.front().view = 6; }));

  const auto shared = [&](std::int64_t number, SlotKind kind, bool last, std::int64_t tokens) {
    return shared_checksum(1, number, kind, last, {.tokens = tokens});
  };
  CHECK(shared(3, SlotKind::data, false, 8) == shared(3, SlotKind::idle, false, 8));
  CHECK(shared(3, SlotKind::data, false, 8) != shared(3, SlotKind::closing, false, 8));
  CHECK(shared(3, SlotKind::data, false, 8) != shared(4, SlotKind::data, false, 8));
  CHECK(shared(3, SlotKind::data, false, 8) != shared(3, SlotKind::data, true, 8));
  CHECK(shared(3, SlotKind::data, false, 8) != shared(3, SlotKind::data, false, 9));
  CHECK(shared(3, SlotKind::data, false, 8) >= 0);
}
