// Ranks as threads over the in-memory peers: reductions, generations, and whole epochs in which
// ranks die at any call and start again, while published slots stay.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "catch.h"
#include "memory_peers.h"
#include "scenario.h"

using namespace odb;

namespace {

// Runs `body` for each rank on its own thread.
template <typename Body>
void on_ranks(int world, Body body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(world));
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([=] { body(rank); });
  for (std::thread& thread : threads)
    thread.join();
}

struct Death {};  // thrown where a collate process would be killed

// When a rank dies: at random, at most six times.
class Fate {
 public:
  explicit Fate(Rng rng) : rng_(rng) {}

  void may_strike(std::uint64_t one_in) {
    if (deaths_ >= 6 || rng_.below(one_in) != 0) return;
    ++deaths_;
    throw Death();
  }
  int deaths() const { return deaths_; }

 private:
  Rng rng_;
  int deaths_ = 0;
};

// Peers that die at random, before or after a reduction.
class MortalPeers final : public Peers {
 public:
  MortalPeers(Peers& peers, Fate& fate) : peers_(peers), fate_(fate) {}
  int rank() const override { return peers_.rank(); }
  int world() const override { return peers_.world(); }
  std::int64_t generation() const override { return peers_.generation(); }
  std::optional<std::vector<std::int64_t>> reduce(Reduction reduction,
                                                  std::vector<std::int64_t> values) override {
    fate_.may_strike(40);
    auto result = peers_.reduce(reduction, std::move(values));
    fate_.may_strike(40);
    return result;
  }

 private:
  Peers& peers_;
  Fate& fate_;
};

// The part of a rank that outlives its collate process.
struct SharedMemory {
  std::deque<RoundStart> starts;                 // of the newest rounds
  std::map<std::int64_t, RefillRecord> refills;  // by round
  std::map<std::int64_t, std::uint64_t> checksums;
  std::vector<Slot> published;
  std::set<ViewId> turned_bad;  // cannot be prepared any more

  std::int64_t newest_published() const { return published.empty() ? -1 : published.back().round; }
};

// The life of one collate process: joins, replays from the agreed round, continues. Returns when
// the epoch has ended or a newer generation exists; throws Death.
void collate(const Scenario& scenario, int rank, Membership& membership, std::int64_t generation,
             SharedMemory& memory, Fate& fate) {
  const auto joined = membership.join(generation);
  if (!joined) return;
  MortalPeers peers(*joined, fate);
  const auto replay = agree_on_replay(peers, memory.starts.back().round, memory.newest_published());
  if (!replay) return;
  while (memory.starts.back().round > replay->round)
    memory.starts.pop_back();
  const RoundStart start = memory.starts.back();
  if (start.round != replay->round) throw std::logic_error("the agreed round was not kept");
  Rounds rounds(scenario.shape(rank), scenario.options, start,
                make_source(scenario.epoch(), start));
  bool published = replay->published;
  while (!rounds.ended()) {
    const std::int64_t round = rounds.start().round;
    if (memory.starts.back().round < round) memory.starts.push_back(rounds.start());
    if (memory.starts.size() > 3) memory.starts.pop_front();
    if (published) {
      rounds.refill_from(memory.refills.at(round));
    } else {
      fill(rounds, [&](ViewId view) -> Prepared {
        if (memory.turned_bad.contains(view))
          return LeftOut{.view = view, .reason = LeftOutReason::crashed_worker};
        return scenario.prepare(view);
      });
      memory.refills[round] = rounds.refill_record();
      memory.checksums.erase(round);
    }
    const auto slots = run_round(rounds, peers);
    if (!slots) return;
    const auto [checksum, is_new] = memory.checksums.emplace(round, round_checksum(*slots));
    if (!is_new && checksum->second != round_checksum(*slots))
      throw std::logic_error("a published round came out differently");
    published = false;
    for (const Slot& slot : *slots) {
      if (slot.number < static_cast<std::int64_t>(memory.published.size())) continue;
      fate.may_strike(60);
      memory.published.push_back(slot);
    }
  }
}

// A collate stays after its own end, because a peer may die and need it. True once all ranks are
// done, false when a newer generation exists.
bool all_done(std::deque<std::atomic<bool>>& done, int rank, Membership& membership,
              std::int64_t generation) {
  done[static_cast<std::size_t>(rank)] = true;
  while (membership.generation() == generation) {
    if (std::ranges::all_of(done, [](const auto& one) { return one.load(); })) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Runs the epoch of `scenario` with ranks that die at any call. `on_death` may change the shared
// memory of the dead rank. Returns the number of deaths.
int run_mortal_ranks(const Scenario& scenario, std::uint64_t seed,
                     std::vector<SharedMemory>& memory,
                     const std::function<void(SharedMemory&, Rng&)>& on_death) {
  MemoryPeers shared(scenario.world);
  std::vector<int> deaths(static_cast<std::size_t>(scenario.world));
  std::deque<std::atomic<bool>> finished(static_cast<std::size_t>(scenario.world));
  memory.resize(static_cast<std::size_t>(scenario.world));
  on_ranks(scenario.world, [&](int rank) {
    const auto index = static_cast<std::size_t>(rank);
    SharedMemory& own = memory[index];
    own.starts.push_back(start_of_epoch(scenario.epoch(), rank, scenario.world));
    const auto member = shared.membership(rank);
    Fate fate(Rng(seed, RandomPurpose::tests, 2, static_cast<std::uint64_t>(rank)));
    Rng change(seed, RandomPurpose::tests, 3, static_cast<std::uint64_t>(rank));
    for (bool done = false; !done;) {
      finished[index] = false;
      const std::int64_t generation = member->generation();
      try {
        collate(scenario, rank, *member, generation, own, fate);
        if (!own.published.empty() && own.published.back().kind == SlotKind::end)
          done = all_done(finished, rank, *member, generation);
      } catch (const Death&) {
        finished[index] = false;
        on_death(own, change);
        member->advance(member->generation());  // its fork server sees the death
      }
    }
    deaths[index] = fate.deaths();
  });
  return std::accumulate(deaths.begin(), deaths.end(), 0);
}

// All ranks hold equal slots with the totals of their groups, and every view comes once.
void check_published(const Scenario& scenario, const std::vector<SharedMemory>& memory) {
  Trace trace;
  for (const SharedMemory& rank : memory)
    trace.push_back(rank.published);
  CHECK(faults_of(scenario, trace).empty());
}

}  // namespace

TEST_CASE("reductions are element-wise over all ranks, call after call") {
  MemoryPeers shared(4);
  std::vector<std::vector<std::int64_t>> found(4);
  on_ranks(4, [&](int rank) {
    const auto member = shared.membership(rank);
    const auto peers = member->join(0);
    for (std::int64_t call = 0; call < 100; ++call) {
      const auto most = peers->reduce(Reduction::max, {rank + call, -rank});
      const auto sum = peers->reduce(Reduction::sum, {rank, call});
      if (*most != std::vector<std::int64_t>{3 + call, 0} ||
          *sum != std::vector<std::int64_t>{6, 4 * call})
        found[static_cast<std::size_t>(rank)].push_back(call);
    }
  });
  for (const auto& wrong : found)
    CHECK(wrong.empty());
}

TEST_CASE("vectors of unequal size break an invariant instead of mixing numbers") {
  MemoryPeers shared(2);
  std::vector<int> refused(2);
  std::vector<int> superseded(2);
  on_ranks(2, [&](int rank) {
    const auto member = shared.membership(rank);
    const auto peers = member->join(0);
    try {
      const auto sum = peers->reduce(Reduction::sum, std::vector<std::int64_t>(rank == 0 ? 2 : 1));
      superseded[static_cast<std::size_t>(rank)] = !sum;
    } catch (const InternalError&) {
      refused[static_cast<std::size_t>(rank)] = 1;
      member->advance(0);  // ends the wait of the other rank, which came first
    }
  });
  CHECK(refused[0] + refused[1] == 1);
  CHECK(superseded[0] + superseded[1] == 1);
}

TEST_CASE("joining one generation twice breaks an invariant instead of waiting forever") {
  MemoryPeers shared(1);
  const auto member = shared.membership(0);
  REQUIRE(member->join(0));
  CHECK_THROWS_AS(member->join(0), InternalError);
  member->advance(0);
  CHECK(member->join(1));
}

TEST_CASE("when many ranks advance the generation only one moves the counter") {
  MemoryPeers shared(3);
  std::vector<int> moved(3);
  on_ranks(3, [&](int rank) {
    const auto member = shared.membership(rank);
    moved[static_cast<std::size_t>(rank)] = member->advance(0);
  });
  CHECK(moved[0] + moved[1] + moved[2] == 1);
  CHECK(shared.membership(0)->generation() == 1);
  CHECK_FALSE(shared.membership(0)->advance(0));
  CHECK(shared.membership(0)->join(0) == nullptr);
}

TEST_CASE("a newer generation ends waits in a reduction or in joining") {
  MemoryPeers shared(3);
  on_ranks(3, [&](int rank) {
    const auto member = shared.membership(rank);
    const auto peers = member->join(0);
    if (rank == 2) {
      member->advance(0);  // died; its peers wait for it, or have not yet seen that all joined
      return;
    }
    const bool superseded = !peers || !peers->reduce(Reduction::max, {1});
    if (!superseded) throw std::logic_error("the reduction must not end");
    if (rank == 1) {
      member->advance(1);  // rank 0 may wait in joining generation 1
      return;
    }
    while (member->generation() < 2)
      if (member->join(1)) throw std::logic_error("no rank can complete generation 1");
  });
  CHECK(shared.membership(0)->generation() == 2);
}

TEST_CASE("ranks that die anywhere and restart publish the slots of a run without deaths") {
  int all_deaths = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Scenario scenario = random_scenario(1000 + seed, 50, 400);
    scenario.world = 2 + static_cast<int>(seed % 4);
    scenario.options.join = true;
    const Trace whole = Run(scenario).to_end();
    std::vector<SharedMemory> memory;
    all_deaths += run_mortal_ranks(scenario, seed, memory, [](SharedMemory&, Rng&) {});
    INFO("seed " << seed);
    for (std::size_t rank = 0; rank < whole.size(); ++rank)
      CHECK(memory[rank].published == whole[rank]);
  }
  CHECK(all_deaths > 12);
}

TEST_CASE("views that turn bad when a rank dies change no published slot and lose no view") {
  std::size_t turned_bad = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Scenario scenario = random_scenario(2000 + seed, 50, 400);
    scenario.world = 1 + static_cast<int>(seed % 4);
    scenario.options.join = true;
    std::vector<SharedMemory> memory;
    run_mortal_ranks(scenario, seed, memory, [](SharedMemory& own, Rng& rng) {
      for (const Item& item :
           own.refills.empty() ? std::vector<Item>() : own.refills.rbegin()->second.items)
        if (rng.below(8) == 0) own.turned_bad.insert(item.view);
    });
    INFO("seed " << seed);
    check_published(scenario, memory);
    for (const SharedMemory& rank : memory)
      turned_bad += rank.turned_bad.size();
  }
  CHECK(turned_bad > 20);
}
