// Times are worked out by hand: a rank takes 1 second per sample, and a slot the seconds given.
#include "plan/timeline.h"

#include <vector>

#include "catch.h"

using namespace odb;

namespace {

using Drawn = std::vector<std::int64_t>;

Timeline timeline(std::int64_t depth, int world = 1, double alignment_seconds = 0) {
  return Timeline({.depth = depth, .workers = 2, .seconds_per_sample = 2}, world,
                  alignment_seconds);
}

}  // namespace

TEST_CASE("the first slot waits for its samples and the alignment") {
  Timeline time = timeline(8, 2, 0.5);
  time.round(Drawn{3, 4});  // the slower rank is ready at 4
  time.slot(10);
  CHECK(time.waited() == Approx(4.5));
  CHECK(time.seconds() == Approx(14.5));
}

TEST_CASE("workers continue while slots are trained, so a deep queue never waits again") {
  Timeline time = timeline(2);
  time.round(Drawn{4});  // agreed at 4
  time.slot(3);          // 4..7
  time.slot(3);          // 7..10, published at 4
  time.round(Drawn{4});  // begins at 4, has its samples at 8
  time.slot(3);          // 10..13
  time.slot(3);
  CHECK(time.waited() == Approx(4));
  CHECK(time.seconds() == Approx(16));
}

TEST_CASE("with depth 1 the next round begins only when the last slot can be published") {
  Timeline time = timeline(1);
  time.round(Drawn{2});  // agreed at 2
  time.slot(1);          // 2..3
  time.slot(1);          // published at 3, 3..4
  time.round(Drawn{6});  // begins at 3 with 1 sample ready, has all 6 at 8
  time.slot(1);          // 8..9
  CHECK(time.waited() == Approx(2 + 4));
  CHECK(time.seconds() == Approx(9));
}

TEST_CASE("workers prepare only as far ahead as their queue: a larger burst waits") {
  Timeline time = timeline(1);
  time.round(Drawn{1});    // agreed at 1
  time.slot(1000);         // 1..1001
  time.slot(1);            // published at 1001, 1001..1002
  time.round(Drawn{200});  // begins at 1001 with 128 ready: 72 more seconds
  time.slot(1);
  CHECK(time.waited() == Approx(1 + 71));
}
