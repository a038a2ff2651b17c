// The side group over real Gloo, ranks as threads: reductions, generations, deaths.
#include "dist/gloo_membership.h"

#include <atomic>
#include <barrier>

#include "base/error.h"
#include "batching/rounds.h"
#include "batching/scenario.h"
#include "catch.h"
#include "on_ranks.h"

using namespace odb;
using std::chrono::milliseconds;

namespace {

using Numbers = std::vector<std::int64_t>;

// A store of its own for each test, and members that connect to it.
class Ranks {
 public:
  explicit Ranks(int world) : world_(world), store_(Store::host({"127.0.0.1", 0})) {}

  GlooMembershipOptions options(int rank) const {
    return {.store = store_.address(), .prefix = "run/", .rank = rank, .world = world_};
  }
  std::unique_ptr<GlooMembership> member(int rank) const {
    return std::make_unique<GlooMembership>(options(rank));
  }
  int world() const { return world_; }

 private:
  int world_;
  Store store_;
};

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

}  // namespace

TEST_CASE("reductions over Gloo are element-wise over all ranks, call after call") {
  for (const int world : {1, 2, 3, 4, 7}) {
    INFO(world << " ranks");
    const Ranks ranks(world);
    std::barrier done(world);
    CHECK(on_ranks(world, [&](int rank) {
            const auto member = ranks.member(rank);
            const auto peers = member->join(0);
            require(peers && peers->rank() == rank && peers->world() == world &&
                        peers->generation() == 0,
                    "joined");
            for (std::int64_t call = 0; call < 50; ++call) {
              // Sizes change from call to call, as a round's do.
              Numbers values(static_cast<std::size_t>(1 + call % 5), rank * call);
              require(peers->reduce(Reduction::max, values) ==
                          Numbers(values.size(), (world - 1) * call),
                      "max");
              require(peers->reduce(Reduction::sum, values) ==
                          Numbers(values.size(), world * (world - 1) / 2 * call),
                      "sum");
            }
            done.arrive_and_wait();
          }) == no_faults(world));
  }
}

TEST_CASE("of many ranks that declare a generation dead one moves it on, and all see the next") {
  const Ranks ranks(4);
  std::atomic<int> moved = 0;
  CHECK(on_ranks(4, [&](int rank) {
          const auto member = ranks.member(rank);
          moved += member->advance(0);
          require(member->generation() == 1, "the next generation");
          require(!member->advance(0), "once");
          require(member->join(0) == nullptr, "an old generation is not joined");
        }) == no_faults(4));
  CHECK(moved == 1);
}

TEST_CASE("a rank that comes late finds the newest generation by itself") {
  const Ranks ranks(1);
  {
    const auto member = ranks.member(0);
    for (int generation = 0; generation < 5; ++generation)
      CHECK(member->advance(generation));
  }
  CHECK(ranks.member(0)->generation() == 5);
}

TEST_CASE("joining a generation a second time breaks an invariant") {
  const Ranks ranks(1);
  const auto member = ranks.member(0);
  CHECK(ranks.member(0)->join(0));
  CHECK_THROWS_AS(member->join(0), InternalError);
  member->advance(0);
  CHECK(member->join(1));
}

TEST_CASE("a newer generation ends a reduction that waits and a join that waits") {
  const Ranks ranks(3);
  CHECK(on_ranks(3, [&](int rank) {
          const auto member = ranks.member(rank);
          if (rank == 2) {
            const auto peers = member->join(0);
            require(peers != nullptr, "joined");
            member->advance(0);  // its collate died; ranks 0 and 1 wait in a reduction
            return;
          }
          const auto peers = member->join(0);
          require(!peers || !peers->reduce(Reduction::max, {1}), "superseded");
          if (rank == 1) {
            member->advance(1);  // rank 0 waits for it and for rank 2 in joining generation 1
            return;
          }
          while (member->generation() < 2)
            require(member->join(1) == nullptr, "nobody can complete generation 1");
        }) == no_faults(3));
}

TEST_CASE("a peer that goes away in the middle moves the generation on, without a message") {
  const Ranks ranks(3);
  std::barrier all_reduced(3);
  CHECK(on_ranks(3, [&](int rank) {
          const auto member = ranks.member(rank);
          auto peers = member->join(0);
          require(peers && peers->reduce(Reduction::sum, {1}) == Numbers{3}, "all are there");
          all_reduced.arrive_and_wait();
          if (rank == 1) {
            peers.reset();  // its connections close
            while (member->generation() == 0)
              std::this_thread::yield();
          } else {
            require(!peers->reduce(Reduction::sum, {1}), "superseded");
            peers.reset();
          }
          require(member->generation() == 1, "one generation further");
          const auto again = member->join(1);
          require(again && again->reduce(Reduction::sum, {1}) == Numbers{3}, "all again");
          all_reduced.arrive_and_wait();
        }) == no_faults(3));
}

TEST_CASE("the end of the store's host is a lost peer, not an endless wait") {
  auto store = std::make_unique<Store>(Store::host({"127.0.0.1", 0}));
  GlooMembership member({.store = store->address(), .prefix = "", .rank = 0, .world = 2});
  std::thread host([&] { store.reset(); });
  CHECK_THROWS_AS(member.join(0), PeerLostError);
  host.join();
}

TEST_CASE("an unknown network is refused by its name") {
  const Ranks ranks(1);
  auto options = ranks.options(0);
  options.network = "no-such-interface";
  GlooMembership member(options);
  CHECK_THROWS_WITH(member.join(0), Catch::Contains("no-such-interface"));
}

TEST_CASE(
    "ranks that cannot connect to each other end after some generations and name their addresses") {
  const Ranks ranks(2);
  auto options = ranks.options(0);
  options.connect_limit = milliseconds(100);
  GlooMembership member(options);
  std::atomic<int> left_over = 0;
  std::thread deaf(
      [&] {  // rank 1: publishes its address in each generation, but no longer listens there
        Store own = Store::connect(options.store, milliseconds(10000));
        own.set("run/network/1", "10.1.2.3");
        for (int generation = 0; generation < GlooMembership::kMaxUnconnected; ++generation) {
          const std::string prefix = "run/gen/" + std::to_string(generation);
          if (generation > 0)
            while (
                !own.wait_for("run/generation/" + std::to_string(generation), milliseconds(1000))) {
            }
          { const GlooGroup silent(own, {prefix, "127.0.0.1", 1, 2}); }
          if (own.add(prefix + "/joined", 1) == 2) own.set(prefix + "/complete", "yes");
          ++left_over;
        }
      });
  int joined = 0;
  const auto join_all = [&] {
    for (std::int64_t generation = 0;; generation = member.generation(), ++joined)
      require(member.join(generation) == nullptr, "nobody listens");
  };
  CHECK_THROWS_WITH(join_all(), Catch::Contains("rank 0 on 127.0.0.1 and rank 1 on 10.1.2.3 could "
                                                "not connect to each other, 10 times in a row"));
  deaf.join();
  CHECK(joined == GlooMembership::kMaxUnconnected - 1);
  CHECK(left_over == GlooMembership::kMaxUnconnected);
}

TEST_CASE("epochs over Gloo give the slots that they give in one process") {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    Scenario scenario = random_scenario(4000 + seed, 50, 400);
    scenario.world = 1 + static_cast<int>(seed % 4);
    if (scenario.data_size < scenario.world) scenario.options.join = true;
    INFO(scenario);
    const Trace expected = Run(scenario).to_end();
    const Ranks ranks(scenario.world);
    Trace found(expected.size());
    std::barrier done(scenario.world);
    CHECK(on_ranks(scenario.world, [&](int rank) {
            const auto member = ranks.member(rank);
            const auto peers = member->join(0);
            const RoundStart start = start_of_epoch(scenario.epoch(), rank, scenario.world);
            Rounds rounds(scenario.shape(rank), scenario.options, start,
                          make_source(scenario.epoch(), start));
            while (!rounds.ended()) {
              fill(rounds, [&](ViewId view) { return scenario.prepare(view); });
              const auto slots = run_round(rounds, *peers);
              require(slots.has_value(), "nobody died");
              auto& own = found[static_cast<std::size_t>(rank)];
              own.insert(own.end(), slots->begin(), slots->end());
            }
            done.arrive_and_wait();
          }) == no_faults(scenario.world));
    CHECK(found == expected);
    CHECK(faults_of(scenario, found) == "");
  }
}
