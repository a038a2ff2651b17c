// Votes before a slot, ranks as threads.
#include "dist/control.h"

#include <atomic>

#include "base/error.h"
#include "catch.h"
#include "training_ranks.h"

using namespace odb;

TEST_CASE("votes: a stop of any rank, ready only when all are, loss sums equal to the bit on all") {
  for (const int world : {1, 2, 3, 4, 7}) {
    INFO(world << " ranks");
    std::vector<std::vector<double>> sums(static_cast<std::size_t>(world));
    CHECK(on_training_ranks(world, [&](TrainingGroups& groups) {
            GroupControl control(groups);
            require(!control.under_way(), "nothing begun");
            const int rank = groups.rank();
            for (int slot = 0; slot < 60; ++slot) {
              const bool mine = slot % world == rank;
              control.begin({.stop = slot % 7 == 3 && mine,
                             .ready = !(slot % 5 == 2 && mine),
                             .loss_sum = 1.0 / (1 + slot + rank)});
              require(control.under_way(), "begun");
              const ControlResult result = control.await();
              require(!control.under_way(), "taken");
              require(result.stop == (slot % 7 == 3), "stop");
              require(result.all_ready == (slot % 5 != 2), "ready");
              double expected = 0;
              for (int other = 0; other < world; ++other)
                expected += 1.0 / (1 + slot + other);
              require(std::abs(result.loss_sum - expected) < 1e-12, "loss sum");
              sums[static_cast<std::size_t>(rank)].push_back(result.loss_sum);
            }
          }) == no_faults(world));
    for (const auto& of_rank : sums)
      CHECK(of_rank == sums.front());
  }
}

TEST_CASE("a rank whose slot is late votes again and again until all slots are ready") {
  std::atomic<int> votes = 0;
  CHECK(on_training_ranks(3, [&](TrainingGroups& groups) {
          GroupControl control(groups);
          for (int time = 0;; ++time) {
            control.begin({.ready = groups.rank() != 1 || time == 4});
            if (control.await().all_ready) break;
            require(time < 4, "only rank 1 was late");
            if (groups.rank() == 0) ++votes;
          }
        }) == no_faults(3));
  CHECK(votes == 4);
}

TEST_CASE("ranks whose slots differ in number or checksum learn it with the vote") {
  CHECK(on_training_ranks(3, [&](TrainingGroups& groups) {
          GroupControl control(groups);
          const bool mine = groups.rank() == 1;
          const auto vote = [&](const ControlVote& own) {
            control.begin(own);
            return control.await();
          };
          ControlResult result = vote({.slot = 5, .slot_checksum = 8});
          require(result.same_slot && result.lowest_slot == 5, "the same");
          result = vote({.slot = mine ? 6 : 5, .slot_checksum = 8});
          require(!result.same_slot && result.lowest_slot == 5 && result.highest_slot == 6,
                  "another number");
          result = vote({.slot = 5, .slot_checksum = mine ? 9 : 8});
          require(!result.same_slot && result.highest_slot == 5, "another checksum");
          // A rank without its slot has nothing to compare.
          result = vote({.ready = !mine, .slot = mine ? 0 : 5, .slot_checksum = 8});
          require(result.same_slot && result.lowest_slot == 5, "one is late");
          result = vote({.ready = false});
          require(result.same_slot, "all are late");
        }) == no_faults(3));
}

TEST_CASE("a vote waits for the slowest without a limit, and begin() does not wait") {
  std::atomic<bool> others_began = false;
  CHECK(on_training_ranks(2, [&](TrainingGroups& groups) {
          GroupControl control(groups);
          if (groups.rank() == 0) {
            control.begin({.loss_sum = 1});  // returns, although rank 1 has not begun
            others_began = true;
          } else {
            while (!others_began)
              std::this_thread::yield();
            control.begin({.loss_sum = 2});
          }
          require(control.await().loss_sum == 3, "sum");
        }) == no_faults(2));
}

TEST_CASE("a rank that goes away in the middle of votes is a lost peer to all others") {
  const Store store = Store::host({"127.0.0.1", 0});
  const auto faults = on_ranks(4, [&](int rank) {
    TrainingGroups groups(store, {.prefix = "run/", .rank = rank, .world = 4});
    GroupControl control(groups);
    for (int slot = 0; slot < 3 || rank != 2; ++slot) {
      control.begin({});
      control.await();
    }
  });
  for (int rank : {0, 1, 3})
    CHECK_THAT(faults[static_cast<std::size_t>(rank)],
               Catch::Contains("has closed its connection in a vote"));
  CHECK(faults[2].empty());
}

TEST_CASE("a channel may end while a vote is under way that nobody answers") {
  const Store store = Store::host({"127.0.0.1", 0});
  std::atomic<int> ended = 0;
  CHECK(on_ranks(2, [&](int rank) {
          {
            TrainingGroups groups(store, {.prefix = "run/", .rank = rank, .world = 2});
            if (rank == 0) {
              GroupControl control(groups);
              control.begin({});
            }
            while (rank == 1 && ended == 0)
              std::this_thread::yield();
          }
          ++ended;
        }) == no_faults(2));
}

TEST_CASE("votes are not begun twice, nor awaited before they begin") {
  CHECK(on_training_ranks(1, [](TrainingGroups& groups) {
          GroupControl control(groups);
          CHECK_THROWS_AS(control.await(), InternalError);
          control.begin({});
          CHECK_THROWS_AS(control.begin({}), InternalError);
          control.await();
        }) == no_faults(1));
}
