// Results of small epochs worked out by hand, then the documented results on the chat lengths, then
// runs that are too large to check by hand.
#include "plan/simulation.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "catch.h"
#include "plan/lengths.h"

using namespace odb;

namespace {

LengthTable table(std::vector<std::int32_t> lengths) {
  return std::make_shared<const std::vector<std::int32_t>>(std::move(lengths));
}

SimulationInput input(LengthTable lengths, Strategy strategy, Layout layout, int world) {
  BatchingOptions options;
  options.strategy = strategy;
  options.layout = layout;
  return {.lengths = std::move(lengths), .options = resolve(options, Layout::flat), .world = world};
}

// Compute only: 1 second a slot and 1 a position; nothing else takes time.
SimulationInput counting(LengthTable lengths, Strategy strategy, Layout layout, int world) {
  SimulationInput result = input(std::move(lengths), strategy, layout, world);
  result.step_time = {.seconds_per_slot = 1,
                      .seconds_per_position = 1,
                      .seconds_per_square = 0,
                      .gradient_bytes = 0,
                      .link_bytes_per_second = 1,
                      .latency_seconds = 0};
  result.pipeline = {.depth = 8, .workers = 1, .seconds_per_sample = 1e-12};
  return result;
}

}  // namespace

TEST_CASE("without join, fewer batches than ranks are refused") {
  for (const Strategy strategy :
       {Strategy::sorted, Strategy::bucket, Strategy::gmt, Strategy::packing}) {
    const Layout layout = strategy == Strategy::packing ? Layout::flat : Layout::padded;
    SimulationInput given =
        counting(table(std::vector<std::int32_t>(16, 100)), strategy, layout, 8);
    CHECK(simulate(given).samples == 16);
    given.options.join = false;
    INFO(name(strategy));
    CHECK_THROWS_AS(simulate(given), UsageError);
    CHECK_THROWS_WITH(simulate(given), Catch::Contains("batches on 8 ranks"));
  }
}

TEST_CASE("long samples are not delayed to the end when few short ones can fill their groups") {
  // Cut at 2,048, a fifth below the budget: most groups are a long sample and room for a short
  // one.
  constexpr std::int32_t kCutoff = 2048;
  std::vector<std::int32_t> lengths = named_lengths("ultrachat-like", 8192, 0);
  for (std::int32_t& length : lengths)
    length = std::min(length, kCutoff);
  SimulationInput given = input(table(std::move(lengths)), Strategy::odb, Layout::flat, 2);
  given.options.l_max = 2560;
  const SimulationResult result = simulate(given);
  CHECK(std::abs(result.length_bias) <= 0.05);
  CHECK(result.first_tenth_length == Approx(result.mean_length).epsilon(0.1));
  CHECK(result.last_tenth_length == Approx(result.mean_length).epsilon(0.1));
  CHECK(result.budget_fill >= 0.85);
}

TEST_CASE("a small epoch gives the results worked out by hand") {
  SimulationInput given = counting(table({10, 9, 7, 5, 4}), Strategy::sorted, Layout::padded, 2);
  given.options.batch_size = 2;
  given.options.pad_multiple = 1;
  given.options.l_max = 20;
  // Rank 0: {10, 9} then {4}; rank 1: {7, 5}, then idle.
  const SimulationResult result = simulate(given);
  CHECK(result.steps == 2);
  CHECK(result.groups == 3);
  CHECK(result.samples == 5);
  CHECK(result.tokens == 35);
  CHECK(result.positions == 20 + 14 + 4);
  CHECK(result.largest_group == 20);
  CHECK(result.padding_fraction == Approx(1 - 35.0 / 38));
  CHECK(result.budget_fill == Approx(38.0 / 60));
  CHECK(result.idle_fraction == Approx(1.0 / 4));
  CHECK(result.seconds == Approx(21 + 5));
  CHECK(result.tokens_per_second == Approx(35.0 / 26));
  CHECK(result.straggler_fraction == Approx(6.0 / 52));  // rank 1 in step 0
  CHECK(result.idle_time_fraction == Approx(5.0 / 52));  // rank 1 in step 1
  CHECK(result.data_wait_fraction == Approx(0).margin(1e-9));
  CHECK(result.tokens_per_step_cv == Approx(13.5 / 17.5));  // 31 and 4 tokens
  CHECK(result.mean_length == Approx(7));
  // Groups (slot, mean length): (0, 9.5), (0, 6), (1, 4).
  CHECK(result.length_bias == Approx(-2.5 / std::sqrt((2.0 / 3) * (15.5))));
  CHECK(result.tail_steps == 2);
}

TEST_CASE("the flat layout computes no padding") {
  SimulationInput given = counting(table({10, 9, 7, 5, 4}), Strategy::gmt, Layout::flat, 1);
  given.options.l_max = 20;
  const SimulationResult result = simulate(given);  // {10, 9}, {7, 5, 4}
  CHECK(result.steps == 2);
  CHECK(result.padding_fraction == 0);
  CHECK(result.positions == 35);
  CHECK(result.seconds == Approx(2 + 35));
  CHECK(result.straggler_fraction == 0);
}

TEST_CASE("an epoch may have fewer samples than ranks, or one sample") {
  for (const Strategy strategy : {Strategy::odb, Strategy::standard, Strategy::gmt}) {
    INFO(name(strategy));
    const SimulationResult result = simulate(input(table({5, 9}), strategy, Layout::flat, 8));
    CHECK(result.samples == 2);
    CHECK(result.idle_fraction >= 0.75);
    CHECK(simulate(input(table({5}), strategy, Layout::flat, 1)).steps == 1);
  }
}

TEST_CASE("what cannot be simulated is refused") {
  CHECK_THROWS_AS(simulate(input(table({}), Strategy::odb, Layout::flat, 2)), UsageError);
  CHECK_THROWS_AS(simulate(input(nullptr, Strategy::odb, Layout::flat, 2)), UsageError);
  SimulationInput dry = input(table({5, 9}), Strategy::odb, Layout::flat, 3);
  dry.options.join = false;
  CHECK_THROWS_AS(simulate(dry), UsageError);
}

TEST_CASE("every strategy trains every sample on any number of ranks, reproducibly") {
  const LengthTable lengths = table(named_lengths("sharegpt-like", 1500, 3));
  std::int64_t tokens = 0;
  for (const std::int32_t length : *lengths)
    tokens += length;
  for (const Strategy strategy :
       {Strategy::odb, Strategy::standard, Strategy::sorted, Strategy::bucket, Strategy::gmt,
        Strategy::bmt, Strategy::packing})
    for (const int world : {1, 3, 64}) {
      INFO(name(strategy) << ", " << world << " ranks");
      SimulationInput given = input(lengths, strategy, Layout::flat, world);
      given.seed = 9;
      const SimulationResult result = simulate(given);
      CHECK(result.samples == 1500);
      CHECK(result.tokens == tokens);
      CHECK(simulate(given).seconds == result.seconds);
    }
}

TEST_CASE("non-join ends when the first rank has no more samples") {
  SimulationInput given = input(table({3, 4, 5, 6, 7}), Strategy::standard, Layout::padded, 4);
  given.options.batch_size = 1;
  CHECK(simulate(given).samples == 5);
  given.options.join = false;
  const SimulationResult result = simulate(given);
  CHECK(result.samples == 4);  // one rank keeps the second of its two
  CHECK(result.steps == 1);
  CHECK(result.idle_fraction == 0);
}

TEST_CASE("odb meets its documented results on the chat lengths") {
  const int world = 8;
  const LengthTable lengths = table(named_lengths("chat", 16384 * world, 0));
  const SimulationResult gmt = simulate(input(lengths, Strategy::gmt, Layout::padded, world));
  const SimulationResult padded = simulate(input(lengths, Strategy::odb, Layout::padded, world));
  const SimulationResult flat = simulate(input(lengths, Strategy::odb, Layout::flat, world));
  CHECK(padded.padding_fraction <= 0.03);
  CHECK(padded.straggler_fraction <= 0.03);
  CHECK(static_cast<double>(padded.steps) <= static_cast<double>(gmt.steps) * 1.05);
  CHECK(flat.padding_fraction == 0);
  CHECK(flat.budget_fill_before_tail >= 0.99);
  CHECK(flat.straggler_fraction <= 0.015);
  for (const SimulationResult& result : {padded, flat}) {
    CHECK(std::abs(result.length_bias) <= 0.05);
    CHECK(result.first_tenth_length == Approx(result.mean_length).epsilon(0.15));
    CHECK(result.last_tenth_length == Approx(result.mean_length).epsilon(0.15));
  }
  SimulationInput random = input(lengths, Strategy::odb, Layout::padded, world);
  random.options.pair_by = PairBy::random;
  CHECK(simulate(random).straggler_fraction > 0.08);
}

TEST_CASE("the sorted strategy shows its length bias") {
  const SimulationResult result =
      simulate(input(table(named_lengths("chat", 4096, 0)), Strategy::sorted, Layout::padded, 2));
  CHECK(result.length_bias < -0.5);
  CHECK(result.first_tenth_length > 3 * result.mean_length);
  CHECK(result.last_tenth_length < 0.2 * result.mean_length);
}

TEST_CASE("4,096 ranks are simulated") {
  SimulationInput given =
      input(table(named_lengths("mix", 4096 * 20, 0)), Strategy::odb, Layout::flat, 4096);
  const SimulationResult result = simulate(given);
  CHECK(result.samples == 4096 * 20);
}
