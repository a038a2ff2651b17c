#include "batching/sampler.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "property.h"

using namespace odb;

namespace {

std::vector<ViewId> drain(Sampler sampler) {
  std::vector<ViewId> views;
  for (; sampler.remaining() > 0; sampler.advance())
    views.push_back(sampler.next());
  return views;
}

LeftoverList list(std::vector<ViewId> ids) {
  return std::make_shared<const std::vector<ViewId>>(std::move(ids));
}

}  // namespace

TEST_CASE("ranks start with every W-th position, with small data some have none") {
  CHECK(first_position(10, 1, 4).progressions == std::vector<Progression>{{1, 4, 10}});
  CHECK(first_position(10, 0, 4).remaining() == 3);
  CHECK(first_position(10, 3, 4).remaining() == 2);
  CHECK(first_position(2, 2, 4).remaining() == 0);
  CHECK(first_position(0, 0, 1).remaining() == 0);
  CHECK_THROWS_AS(first_position(10, 4, 4), InternalError);
}

TEST_CASE("leftovers are drawn before positions, and looking ahead draws nothing") {
  const Permutation order(10, 3, 0);
  const SamplerPosition position{1, 3, {{0, 4, 10}, {3, 4, 10}}};
  Sampler sampler(order, list({70, 71, 72, 73}), position);
  const std::vector<ViewId> all = {71, 72, order(0), order(4), order(8), order(3), order(7)};
  std::vector<ViewId> ahead;
  sampler.peek(100, ahead);
  CHECK(ahead == all);
  CHECK(sampler.remaining() == 7);
  CHECK(sampler.position() == position);
  ahead.clear();
  sampler.peek(3, ahead);
  CHECK(ahead == std::vector<ViewId>{71, 72, order(0)});
  CHECK(drain(sampler) == all);
}

TEST_CASE("a sampler made from a position in the middle continues from there") {
  const Permutation order(50, 3, 1);
  Sampler sampler(order, list({7, 8}), {0, 2, {{0, 3, 20}, {21, 2, 25}, {30, 1, 50}}});
  const std::vector<ViewId> all = drain(sampler);
  for (std::size_t drawn = 0; drawn < all.size(); ++drawn) {
    const Sampler again(order, list({7, 8}), sampler.position());
    CHECK(drain(again) ==
          std::vector<ViewId>(all.begin() + static_cast<std::ptrdiff_t>(drawn), all.end()));
    sampler.advance();
  }
  CHECK(sampler.position().progressions.empty());
  CHECK_THROWS_AS(sampler.next(), InternalError);
  CHECK_THROWS_AS(sampler.advance(), InternalError);
}

TEST_CASE("positions outside the data or the leftover list break an invariant") {
  const Permutation order(10, 3, 0);
  CHECK_THROWS_AS(Sampler(order, nullptr, {0, 1, {}}), InternalError);
  CHECK_THROWS_AS(Sampler(order, list({1, 2}), {1, 3, {}}), InternalError);
  CHECK_THROWS_AS(Sampler(order, nullptr, {0, 0, {{0, 1, 11}}}), InternalError);
  CHECK_THROWS_AS(Sampler(order, nullptr, {0, 0, {{0, 0, 5}}}), InternalError);
}

TEST_CASE("undrawn views are shared out in contiguous pieces of almost equal size") {
  // 5 leftovers and 7 positions for 3 ranks: 12 in total, 4 each.
  const std::vector<Progression> undrawn = {{2, 2, 9}, {0, 10, 30}};
  const auto shares = share_out(5, undrawn, 3);
  CHECK(shares[0] == SamplerPosition{0, 2, {{2, 2, 5}}});
  CHECK(shares[1] == SamplerPosition{2, 4, {{6, 2, 9}}});
  CHECK(shares[2] == SamplerPosition{4, 5, {{0, 10, 21}}});
  CHECK(share_out(0, {}, 2) == std::vector<SamplerPosition>(2));
}

TEST_CASE("sharing out many times keeps every position once and the lists short") {
  check_property("share_out", 200, [] {
    const auto size = *rc::gen::inRange<std::int64_t>(0, 500);
    int world = *rc::gen::inRange(1, 20);
    std::vector<SamplerPosition> shares;
    shares.reserve(static_cast<std::size_t>(world));
    for (int rank = 0; rank < world; ++rank)
      shares.push_back(first_position(size, rank, world));
    std::size_t max_pieces = static_cast<std::size_t>(world);
    for (int change = 0; change < 5; ++change) {
      std::vector<Progression> undrawn;
      for (const auto& share : shares)
        undrawn.insert(undrawn.end(), share.progressions.begin(), share.progressions.end());
      world = *rc::gen::inRange(1, 20);
      const auto leftovers = *rc::gen::inRange<std::int64_t>(0, 40);
      shares = share_out(leftovers, undrawn, world);
      max_pieces += static_cast<std::size_t>(world) - 1;
      std::size_t pieces = 0;
      std::multiset<std::int64_t> positions;
      std::int64_t next_leftover = 0;
      std::int64_t least = size + leftovers;
      std::int64_t most = 0;
      for (const auto& share : shares) {
        RC_ASSERT(share.leftover_begin == next_leftover);
        next_leftover = share.leftover_end;
        for (const Progression& p : share.progressions)
          for (std::int64_t i = 0; i < p.count(); ++i)
            positions.insert(p.at(i));
        pieces += share.progressions.size();
        least = std::min(least, share.remaining());
        most = std::max(most, share.remaining());
      }
      RC_ASSERT(next_leftover == leftovers);
      RC_ASSERT(static_cast<std::int64_t>(positions.size()) == size);
      RC_ASSERT(std::set(positions.begin(), positions.end()).size() == positions.size());
      RC_ASSERT(most - least <= 1);
      RC_ASSERT(pieces <= max_pieces);
    }
  });
}
