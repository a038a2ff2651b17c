// bench align: how long the ranks take to agree on a round: two reductions over the side group.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/options/command_line.h"
#include "base/percentile.h"
#include "batching/alignment.h"
#include "bench/benchmarks.h"
#include "bench/local_ranks.h"
#include "bench/local_store.h"
#include "bench/rank_options.h"
#include "dist/exchange_plan.h"
#include "dist/gloo_membership.h"

namespace odb {
namespace {

constexpr std::int64_t kMaxBenchRounds = 100000;
constexpr std::int64_t kWarmUpRounds = 50;

struct BenchAlignOptions {
  std::vector<std::int64_t> ranks{1, 2, 4};
  LocalRankOptions network;
  std::int64_t rounds = 1000;
  std::int64_t round_groups = 16;
  bool json = false;
};

void describe(OptionTable& table, BenchAlignOptions& options) {
  describe(table, options.network);
  table.group("bench align");
  table.add("ranks", options.ranks)
      .at_least(1)
      .at_most(kMaxLocalRanks)
      .help("ranks on this machine, one measurement each");
  table.add("rounds", options.rounds)
      .at_least(1)
      .at_most(kMaxBenchRounds)
      .help("rounds to measure");
  table.add("round-groups", options.round_groups)
      .at_least(1)
      .at_most(1 << 20)
      .help("slots that a round agrees on, as in training");
  table.add_switch("json", options.json).help("print one JSON object");
}

// What a rank sends in a round, whatever the values are.
struct RoundLoad {
  std::size_t messages = 0;
  std::size_t bytes = 0;
};

// Sizes of the two reductions, in numbers.
constexpr auto kOfferSize = static_cast<std::size_t>(kOfferNumbers);
std::size_t totals_size(std::int64_t slots) {
  return static_cast<std::size_t>(kSlotNumbers * slots);
}

// Load of the rank that sends the most.
RoundLoad load_of(int world, std::int64_t slots) {
  // With ranks beyond a power of two, as many of the first ranks send more; rank 0 is one of them.
  const auto plan = exchange_plan(0, world);
  const auto sent = static_cast<std::size_t>(
      std::count_if(plan.begin(), plan.end(), [](const Exchange& exchange) {
        return exchange.kind == ExchangeKind::swap || exchange.kind == ExchangeKind::give;
      }));
  constexpr std::size_t kNumber = sizeof(std::int64_t);
  return {.messages = 2 * sent, .bytes = sent * kNumber * (2 + kOfferSize + totals_size(slots))};
}

struct Shared {
  LocalRendezvous rendezvous;
  std::int64_t nanoseconds[kMaxBenchRounds];  // by rank 0
};

int run_rank(int rank, int world, const BenchAlignOptions& options, Shared& shared) {
  const LocalStore store = open_local_store(shared.rendezvous, rank);
  GlooMembership membership(
      {.store = store.address, .network = options.network.network, .rank = rank, .world = world});
  const auto peers = membership.join(0);
  ODB_CHECK(peers, "generation 0 was given up");
  for (std::int64_t round = -kWarmUpRounds; round < options.rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const auto maxima = peers->reduce(Reduction::max, std::vector<std::int64_t>(kOfferSize));
    const auto sums =
        peers->reduce(Reduction::sum, std::vector<std::int64_t>(totals_size(options.round_groups)));
    if (!maxima || !sums) throw PeerLostError("a rank was lost in round {}", round);
    const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
    if (rank == 0 && round >= 0) shared.nanoseconds[round] = taken.count();
  }
  shared.rendezvous.await_all(world, 1, std::chrono::seconds(60));
  return 0;
}

struct Latency {
  int ranks = 0;
  double median_milliseconds = 0;
  double slow_milliseconds = 0;  // 99 of 100 are faster
  RoundLoad load;
};

Latency measure(int world, const BenchAlignOptions& options) {
  const SharedObject<Shared> shared("align");
  run_local_ranks(world, std::chrono::seconds(10),
                  [&](int rank) { return run_rank(rank, world, options, *shared); });
  std::vector<std::int64_t> taken(shared->nanoseconds, shared->nanoseconds + options.rounds);
  std::sort(taken.begin(), taken.end());
  const auto at = [&](std::size_t percent) {
    return 1e-6 * static_cast<double>(percentile(taken, percent));
  };
  return {.ranks = world,
          .median_milliseconds = at(50),
          .slow_milliseconds = at(99),
          .load = load_of(world, options.round_groups)};
}

nlohmann::ordered_json as_json(const std::vector<Latency>& measured,
                               const BenchAlignOptions& options) {
  nlohmann::ordered_json result{
      {"rounds", options.rounds},
      {"numbers_per_round", kOfferSize + totals_size(options.round_groups)},
      {"measured", nlohmann::ordered_json::array()},
      {"load", nlohmann::ordered_json::array()}};
  for (const Latency& latency : measured)
    result["measured"].push_back({{"ranks", latency.ranks},
                                  {"median_milliseconds", latency.median_milliseconds},
                                  {"percentile_99_milliseconds", latency.slow_milliseconds}});
  for (int world = 1; world <= 4096; world *= 2) {
    const RoundLoad load = load_of(world, options.round_groups);
    result["load"].push_back({{"ranks", world},
                              {"messages_per_rank_and_round", load.messages},
                              {"bytes_per_rank_and_round", load.bytes}});
  }
  return result;
}

std::string as_text(const std::vector<Latency>& measured, const BenchAlignOptions& options) {
  std::string text = fmt::format(
      "{} rounds of {} slots; a round reduces {} + {} numbers, whatever the number of ranks\n\n"
      "{:>6} {:>12} {:>12} {:>20} {:>17}\n",
      options.rounds, options.round_groups, kOfferSize, totals_size(options.round_groups), "ranks",
      "median ms", "99 % ms", "messages sent/round", "bytes sent/round");
  for (const Latency& latency : measured)
    text += fmt::format("{:>6} {:>12.3f} {:>12.3f} {:>20} {:>17}\n", latency.ranks,
                        latency.median_milliseconds, latency.slow_milliseconds,
                        latency.load.messages, latency.load.bytes);
  for (const int world : {64, 1024, 4096}) {
    const RoundLoad load = load_of(world, options.round_groups);
    text += fmt::format("{:>6} {:>12} {:>12} {:>20} {:>17}\n", world, "-", "-", load.messages,
                        load.bytes);
  }
  return text;
}

}  // namespace

int bench_align(const Arguments& arguments) {
  BenchAlignOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "bench align",
      .summary =
          "Measures how long ranks on this machine take to agree on a round over the side "
          "group (Gloo), and reports what each rank sends, up to 4,096 ranks.",
      .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;
  start_log({.role = "align"});
  std::vector<Latency> measured;
  for (const std::int64_t world : options.ranks)
    measured.push_back(measure(static_cast<int>(world), options));
  if (options.json)
    fmt::print("{}\n", as_json(measured, options).dump());
  else
    fmt::print("{}", as_text(measured, options));
  return 0;
}

}  // namespace odb
