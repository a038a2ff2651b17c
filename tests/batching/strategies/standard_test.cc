#include "batching/strategies/standard.h"

#include <vector>

#include "base/permutation.h"
#include "batching/strategies/make_source.h"
#include "catch.h"

using namespace odb;

namespace {

using Views = std::vector<ViewId>;

Epoch small_epoch() {
  BatchingOptions options;
  options.strategy = Strategy::standard;
  options.batch_size = 3;
  options.round_groups = 2;
  return make_epoch(resolve(options, Layout::flat), 5, 17, 0, nullptr);
}

void fill(GroupSource& source) {
  while (source.filling())
    source.deliver({.view = source.upcoming(1).front(), .length = 4, .supervised = 4});
}

std::vector<Views> take(GroupSource& source, std::int64_t count) {
  const Rng rng(0, RandomPurpose::tests);
  std::vector<Views> result;
  for (const Group& group : source.take(count, rng, rng)) {
    result.emplace_back();
    for (const Item& row : group.rows)
      result.back().push_back(row.view);
  }
  return result;
}

}  // namespace

TEST_CASE("a rank draws its shard of the random order and counts rows") {
  const Epoch epoch = small_epoch();
  const Permutation order(17, 5, 0);
  Views shard;  // rank 1 of 2: 8 of 17 views
  for (std::int64_t position = 1; position < 17; position += 2)
    shard.push_back(order(position));

  const auto source = make_source(epoch, start_of_epoch(epoch, 1, 2));
  CHECK(source->upcoming(100) == shard);
  fill(*source);
  CHECK(source->supply().groups == 2);
  CHECK(source->supply().samples == 6);
  CHECK(source->remaining() == 8);
  CHECK(take(*source, 2) ==
        std::vector<Views>{{shard[0], shard[1], shard[2]}, {shard[3], shard[4], shard[5]}});
  CHECK(source->remaining() == 2);
  fill(*source);
  CHECK(source->supply().groups == 1);
  CHECK(take(*source, 1) == std::vector<Views>{{shard[6], shard[7]}});
  CHECK_FALSE(source->supply().unfinished());
}

TEST_CASE("waiting samples are saved and drawn again, left-out ones are replaced") {
  const Epoch epoch = small_epoch();
  RoundStart start = start_of_epoch(epoch, 0, 1);
  const auto source = make_source(epoch, start);
  const Views drawn = source->upcoming(7);
  source->leave_out(drawn[0]);
  fill(*source);
  CHECK(take(*source, 1) == std::vector<Views>{{drawn[1], drawn[2], drawn[3]}});
  source->save(start);
  CHECK(start.window == std::vector<WindowEntry>{{drawn[4], 0}, {drawn[5], 0}, {drawn[6], 0}});

  const auto restored = make_source(epoch, start);
  CHECK(restored->remaining() == source->remaining());
  CHECK(restored->upcoming(3) == Views{drawn[4], drawn[5], drawn[6]});
  fill(*restored);
  fill(*source);
  CHECK(take(*restored, 2) == take(*source, 2));
}

TEST_CASE("the costliest batch is split when there are fewer than the requested groups") {
  const Epoch epoch = small_epoch();
  const auto source = make_source(epoch, start_of_epoch(epoch, 0, 5));  // 4 views
  const Views drawn = source->upcoming(4);
  fill(*source);
  CHECK(source->supply().groups == 2);
  const std::vector<Views> groups = take(*source, 3);
  CHECK(groups[1] == Views{drawn[3]});
  CHECK(groups[0].size() + groups[2].size() == 3);
}
