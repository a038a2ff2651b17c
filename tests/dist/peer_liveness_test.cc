#include "dist/peer_liveness.h"

#include "catch.h"

using namespace odb;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds kPeriod{100};
constexpr milliseconds kTimeout{1000};

using Beats = std::vector<std::optional<Beat>>;

}  // namespace

TEST_CASE("a peer whose beat stops is lost after the timeout, with its last phase") {
  PeerLiveness watch({1, 2}, kPeriod, kTimeout);
  std::optional<LostPeer> lost;
  for (int i = 0; i < 5; ++i)
    CHECK_FALSE(watch.update(Beats{Beat{i, "filling"}, Beat{i, "step 3"}}, kPeriod));
  int looks = 0;
  for (int i = 5; !lost; ++i, ++looks)
    lost = watch.update(Beats{Beat{4, "filling"}, Beat{i, "step 4"}}, kPeriod);
  CHECK(looks == 10);
  CHECK(lost == LostPeer{.rank = 1, .phase = "filling", .silence = kTimeout});
}

TEST_CASE("a peer that never came is lost as well, without a phase") {
  PeerLiveness watch({7}, kPeriod, kTimeout);
  std::optional<LostPeer> lost;
  for (int i = 0; i < 10; ++i)
    lost = watch.update(Beats{std::nullopt}, kPeriod);
  CHECK(lost == LostPeer{.rank = 7, .phase = "", .silence = kTimeout});
}

TEST_CASE("a peer that left cleanly is never lost") {
  PeerLiveness watch({1}, kPeriod, kTimeout);
  for (int i = 0; i < 100; ++i)
    CHECK_FALSE(watch.update(Beats{Beat{3, "", true}}, kPeriod));
}

TEST_CASE("a peer whose process has ended is lost at once, before one that is silent") {
  PeerLiveness watch({1, 2, 3}, kPeriod, kTimeout);
  std::optional<LostPeer> lost;
  for (int i = 0; i < 9; ++i)
    lost = watch.update(Beats{Beat{0, "filling"}, Beat{i, "step 3"}, Beat{i, "step 3"}}, kPeriod);
  CHECK_FALSE(lost);
  lost =
      watch.update(Beats{Beat{0, "filling"}, Beat{9, "step 4"}, Beat{9, "step 3"}}, kPeriod, {2});
  CHECK(lost == LostPeer{.rank = 2, .phase = "step 4", .ended = true});
}

TEST_CASE("a peer that left cleanly before its process ended is not lost") {
  PeerLiveness watch({1}, kPeriod, kTimeout);
  CHECK_FALSE(watch.update(Beats{Beat{1, "a"}}, kPeriod));
  for (int i = 0; i < 100; ++i)
    CHECK_FALSE(watch.update(Beats{Beat{2, "", true}}, kPeriod, {1}));
}

TEST_CASE("a peer that ended before its first beat is lost without a phase") {
  PeerLiveness watch({1}, kPeriod, kTimeout);
  CHECK(watch.update(Beats{std::nullopt}, kPeriod, {1}) ==
        LostPeer{.rank = 1, .phase = "", .ended = true});
}

TEST_CASE("a watcher that was itself stopped for an hour does not blame the others") {
  PeerLiveness watch({1}, kPeriod, kTimeout);
  CHECK_FALSE(watch.update(Beats{Beat{1, "a"}}, kPeriod));
  CHECK_FALSE(watch.update(Beats{Beat{1, "a"}}, std::chrono::hours(1)));
  CHECK_FALSE(watch.update(Beats{Beat{2, "a"}}, kPeriod));
}

TEST_CASE("of several lost peers the one that fell silent first is named") {
  PeerLiveness watch({1, 2}, kPeriod, kTimeout);
  CHECK_FALSE(watch.update(Beats{Beat{1, "a"}, Beat{1, "b"}}, kPeriod));
  CHECK_FALSE(watch.update(Beats{Beat{2, "a"}, Beat{1, "b"}}, kPeriod));
  std::optional<LostPeer> lost;
  while (!lost)
    lost = watch.update(Beats{Beat{2, "a"}, Beat{1, "b"}}, kPeriod);
  CHECK(lost->rank == 2);
}

TEST_CASE("beats and verdicts survive being written and read") {
  for (const Beat& beat : {Beat{17, "waiting for slot 3"}, Beat{0, ""}, Beat{4, "", true}})
    CHECK(parse_beat(to_text(beat)) == beat);
  CHECK(parse_beat("nonsense") == Beat{-1, "nonsense"});
  for (const LostPeer& peer :
       {LostPeer{.rank = 3, .phase = "in round 8", .silence = milliseconds(5012)},
        LostPeer{.rank = 3, .phase = "in round 8", .ended = true},
        LostPeer{.rank = 3, .phase = "", .ended = true}})
    CHECK(parse_lost_peer(to_text(peer)) == peer);
  CHECK_FALSE(parse_lost_peer("3 x y"));
  CHECK_FALSE(parse_lost_peer(""));
}
