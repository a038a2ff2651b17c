#include "batching/state.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "batching/odb_source.h"
#include "batching/redeal.h"
#include "catch.h"
#include "scenario.h"

using namespace odb;

namespace {

OwnedState sample_state() {
  OwnedState s;
  s.owner = {.rank = 3,
             .world = 8,
             .seed = 0xffffffffffffffff,
             .data_size = 5000,
             .options = "l-max=8192 layout=flat"};
  s.state.start = {.epoch = 2,
                   .round = 17,
                   .next_slot = 301,
                   .sampler = {5, 9, {{3, 8, 5000}, {4, 1, 6}}},
                   .window = {{70, 0}, {71, 12}},
                   .fill_target = 512,
                   .open_step = {1, 2000, 30},
                   .known_bad = {{9, LeftOutReason::crashed_worker}}};
  s.state.slots_taken = 2;
  s.state.taken = {70, 88, 89};
  s.state.left_out = {{90, LeftOutReason::bad_record}};
  return s;
}

// With the correct checksum.
std::string resealed(std::string bytes) {
  bytes.resize(bytes.size() - 8);
  append_little_endian(bytes, checksum64(bytes));
  return bytes;
}

ViewsAt identity() {
  return [](std::int64_t position) { return std::vector<ViewId>{position}; };
}

OwnedState state_of(int rank, int world, const DataState& state) {
  return {.owner = {.rank = rank, .world = world, .seed = 0, .data_size = 100, .options = ""},
          .state = state};
}

}  // namespace

TEST_CASE("a state is read back from its bytes unchanged") {
  const OwnedState state = sample_state();
  const OwnedState back = parse_state(serialize(state), "rank-00003");
  CHECK(back.owner == state.owner);
  CHECK(back.state == state.state);
  const OwnedState empty = parse_state(serialize(OwnedState{}), "x");
  CHECK(empty.state == DataState{});
}

TEST_CASE("the layout of a state's bytes does not change") {
  const std::string bytes = serialize(sample_state());
  // A change of these bytes requires a new version of the format.
  CHECK(bytes.substr(0, 12) == std::string("ODBSTATE\x01\0\0\0", 12));
  CHECK(to_hex(checksum64(bytes)) == "5d3658dfbf4ab85f");
}

TEST_CASE("damage to any byte of a state is found") {
  const std::string bytes = serialize(sample_state());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    CHECK_THROWS_AS(parse_state(damaged, "x"), FileError);
    CHECK_THROWS_AS(parse_state(std::string_view(bytes).substr(0, i), "x"), FileError);
  }
  CHECK_THROWS_AS(parse_state(bytes + "x", "x"), FileError);
}

TEST_CASE("counts that do not fit the bytes are refused before memory is taken") {
  const std::string bytes = serialize(sample_state());
  // The offsets of the counts of options, progressions, window, known bad, taken and left-out rows.
  const std::size_t end = bytes.size();
  for (const std::size_t place :
       {std::size_t{44}, std::size_t{114}, std::size_t{170}, end - 47, end - 29, end - 18}) {
    INFO("count at byte " << place << " of " << end);
    CHECK_THROWS_WITH(parse_state(resealed(bytes.substr(0, place) + std::string(8, '\x7f') +
                                           bytes.substr(place + 8)),
                                  "x"),
                      Catch::Contains("found a list of 9187201950435737471 entries"));
  }
}

TEST_CASE("another version is refused with both numbers") {
  std::string bytes = serialize(sample_state());
  bytes[8] = 9;
  CHECK_THROWS_WITH(parse_state(resealed(bytes), "data/rank-00003.bin"),
                    Catch::Contains("data/rank-00003.bin") && Catch::Contains("version 9") &&
                        Catch::Contains("reads version 1"));
  CHECK_THROWS_WITH(parse_state("hello", "x"), Catch::Contains("ODBSTATE"));
}

TEST_CASE("a state is continued only under its own seed, data and options") {
  const StateOwner saved{0, 8, 1, 100, "l-max=8192 layout=flat window=1024"};
  StateOwner now = saved;
  now.rank = 5;
  now.world = 6;
  REQUIRE_NOTHROW(check_same_run(saved, now, "x"));
  now.seed = 2;
  CHECK_THROWS_WITH(check_same_run(saved, now, "x"), Catch::Contains("--seed 1, now 2"));
  now.seed = 1;
  now.data_size = 90;
  CHECK_THROWS_WITH(check_same_run(saved, now, "x"),
                    Catch::Contains("100 samples") && Catch::Contains("90"));
  now.data_size = 100;
  now.options = "l-max=4096 layout=flat window=512";
  CHECK_THROWS_WITH(check_same_run(saved, now, "x"),
                    Catch::Contains("saved with --l-max=8192, --window=1024, now --l-max=4096, "
                                    "--window=512"));
  CHECK_THROWS_AS(check_same_run(saved, now, "x"), UsageError);
}

TEST_CASE("a state of a window of 1,024 is under 64 KiB at every step of an epoch") {
  for (const Grouping grouping : {Grouping::fit, Grouping::greedy}) {
    Scenario s;
    s.world = 2;
    s.data_size = 12000;
    BatchingOptions o;
    o.grouping = grouping;
    o.l_max = 8192;
    s.options = resolve(o, Layout::flat);
    Run run(s);
    std::size_t largest = 0;
    std::size_t largest_window = 0;
    while (!run.ended()) {
      const RoundStart start = run.rank(0).start();
      largest_window = std::max(largest_window, start.window.size());
      const Trace part = run.round();
      const StateOwner owner{0, 2, 0, s.data_size, options_fingerprint(s.options)};
      largest = std::max(
          largest,
          serialize(OwnedState{.owner = owner, .state = state_after(start, part[0])}).size());
    }
    INFO(name(grouping));
    CHECK(largest_window > 800);
    CHECK(largest < 64 * 1024);
  }
}

TEST_CASE("a state is under 64 KiB when every sample is as short as possible") {
  const std::int64_t data_size = std::int64_t{1} << 34;
  const BatchingOptions options = resolve({}, Layout::flat);
  const RoundStart first = first_round(options, data_size, 0, 1, 0);
  std::vector<Rounds> ranks;
  ranks.emplace_back(
      RunShape{0, 1, 0, data_size}, options, first,
      std::make_unique<OdbSource>(options, Permutation(data_size, 0, 0), nullptr, first));
  for (int round = 0; round < 4; ++round) {
    const RoundStart start = ranks[0].start();
    const auto slots =
        lock_step_round(ranks, [](ViewId view) -> Prepared { return Item{view, 1, 1}; });
    const OwnedState state{.owner = {}, .state = state_after(start, slots[0])};
    CHECK(state.state.taken.size() > 8000);
    CHECK(serialize(state).size() < 64 * 1024);
  }
}

TEST_CASE("a replayed round that holds other views means that the data changed") {
  Scenario s;
  s.data_size = 50;
  s.options = resolve({}, Layout::flat);
  Run run(s);
  const RoundStart start = run.rank(0).start();
  const Trace part = run.round();
  DataState state = state_after(start, part[0]);
  REQUIRE_NOTHROW(check_replayed(state, part[0]));
  CHECK_THROWS_WITH(check_replayed(state, std::span(part[0]).first(
                                              static_cast<std::size_t>(state.slots_taken - 1))),
                    Catch::Contains("has changed since"));
  state.taken[1] += 1;
  CHECK_THROWS_AS(check_replayed(state, part[0]), DataError);
  state.taken.pop_back();
  CHECK_THROWS_WITH(check_replayed(state, part[0]), Catch::Contains("has changed since"));
}

TEST_CASE("views that two ranks had not trained are dealt to three") {
  // Rank 0 drew 0, 2, 4, 6 (4 in this round); 0 and 4 were trained, 6 left out.
  DataState first;
  first.start = {.epoch = 1,
                 .round = 5,
                 .next_slot = 20,
                 .sampler = {0, 0, {{4, 2, 12}}},
                 .window = {{0, 1}, {2, 1}},
                 .fill_target = 512};
  first.slots_taken = 3;
  first.taken = {0, 4};
  first.left_out = {{6, LeftOutReason::bad_record}};
  // Rank 1 drew 1, 3, 5; 3 was trained.
  DataState second = first;
  second.start.sampler = {0, 0, {{7, 2, 12}}};
  second.start.window = {{1, 0}, {3, 2}, {5, 4}};
  second.start.known_bad = {{9, LeftOutReason::crashed_worker}};
  second.taken = {3};
  second.left_out = {};
  const std::vector<OwnedState> old = {state_of(1, 2, second), state_of(0, 2, first)};
  const Redealt redealt = redeal(old, {}, identity(), 3);
  CHECK(redealt.leftovers == std::vector<ViewId>{2, 1, 5});
  REQUIRE(redealt.starts.size() == 3);
  // Undrawn: 8, 10 and 7, 9, 11.
  CHECK(redealt.starts[0].sampler == SamplerPosition{0, 1, {{8, 2, 11}}});
  CHECK(redealt.starts[1].sampler == SamplerPosition{1, 2, {{7, 2, 10}}});
  CHECK(redealt.starts[2].sampler == SamplerPosition{2, 3, {{11, 2, 12}}});
  for (const RoundStart& start : redealt.starts) {
    CHECK(start.epoch == 1);
    CHECK(start.round == 6);
    CHECK(start.next_slot == 23);
    CHECK(start.fill_target == 512);
    CHECK(start.window.empty());
    CHECK(start.known_bad == second.start.known_bad);
    CHECK(start.open_step == OpenStep{});
  }
}

TEST_CASE("states that do not belong together are refused") {
  DataState state;
  state.start.next_slot = 4;
  const auto deal = [](const std::vector<OwnedState>& states) {
    return redeal(states, {}, identity(), 2);
  };
  CHECK_THROWS_AS(deal({}), FileError);
  CHECK_THROWS_WITH(deal({state_of(0, 2, state)}), Catch::Contains("expected each rank once"));
  CHECK_THROWS_AS(deal({state_of(1, 2, state), state_of(1, 2, state)}), FileError);
  CHECK_THROWS_AS(deal({state_of(0, 2, state), state_of(2, 2, state)}), FileError);
  DataState later = state;
  later.slots_taken = 1;
  CHECK_THROWS_WITH(deal({state_of(0, 2, state), state_of(1, 2, later)}),
                    Catch::Contains("expected the states of one step"));
  DataState stranger = state;
  stranger.taken = {77};
  CHECK_THROWS_WITH(deal({state_of(0, 1, stranger)}), Catch::Contains("view 77"));
  DataState loose = state;
  loose.start.sampler = {0, 5, {}};
  CHECK_THROWS_WITH(deal({state_of(0, 1, loose)}), Catch::Contains("leftovers 0..5"));
}
