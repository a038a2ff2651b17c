// A rank's progress through a plan: which batches it takes, what waits, and what a saved position
// holds.
#include "batching/strategies/planned_source.h"

#include <vector>

#include "base/error.h"
#include "batching/strategies/make_source.h"
#include "catch.h"

using namespace odb;

namespace {

using Views = std::vector<ViewId>;

// Six batches of two views each, longest first: {0, 1}, {2, 3}, ... of lengths 12, 11, 10, ...
Epoch small_epoch(std::int64_t round_groups) {
  BatchingOptions options;
  options.strategy = Strategy::sorted;
  options.layout = Layout::padded;
  options.batch_size = 2;
  options.round_groups = round_groups;
  std::vector<std::int32_t> lengths;
  for (std::int32_t length = 12; length > 0; --length)
    lengths.push_back(length);
  return make_epoch(resolve(options, Layout::flat), 0, 12, 0,
                    std::make_shared<const std::vector<std::int32_t>>(lengths));
}

Item item(ViewId view) {
  const auto length = static_cast<std::int32_t>(12 - view);
  return {.view = view, .length = length, .supervised = length};
}

void fill(GroupSource& source) {
  while (source.filling())
    source.deliver(item(source.upcoming(1).front()));
}

std::vector<Group> take(GroupSource& source, std::int64_t count) {
  const Rng rng(0, RandomPurpose::tests);
  return source.take(count, rng, rng);
}

Views views(const Group& group) {
  Views result;
  for (const Item& row : group.rows)
    result.push_back(row.view);
  return result;
}

}  // namespace

TEST_CASE("rank 1 of 2 takes every second batch, up to the groups of a round") {
  const Epoch epoch = small_epoch(2);
  const auto source = make_source(epoch, start_of_epoch(epoch, 1, 2));
  CHECK(source->remaining() == 6);
  CHECK(source->upcoming(5) == Views{2, 3, 6, 7, 10});
  CHECK(source->upcoming(100) == Views{2, 3, 6, 7, 10, 11});
  fill(*source);
  CHECK(source->upcoming(100) == Views{10, 11});
  CHECK(source->supply().groups == 2);
  CHECK(source->supply().samples == 4);
  const std::vector<Group> groups = take(*source, 2);
  CHECK(views(groups[0]) == Views{2, 3});
  CHECK(views(groups[1]) == Views{6, 7});
  CHECK(source->remaining() == 2);
  fill(*source);
  CHECK(views(take(*source, 1).front()) == Views{10, 11});
  CHECK_FALSE(source->filling());
  CHECK_FALSE(source->supply().unfinished());
  CHECK(source->upcoming(1).empty());
}

TEST_CASE("batches that were not handed out wait, and are restored as the same batches") {
  const Epoch epoch = small_epoch(3);
  RoundStart start = start_of_epoch(epoch, 0, 1);
  const auto source = make_source(epoch, start);
  fill(*source);
  take(*source, 1);
  source->save(start);
  CHECK(start.window == std::vector<WindowEntry>{{2, 0}, {3, 0}, {4, 1}, {5, 1}});
  CHECK(start.sampler.progressions == std::vector<Progression>{{3, 1, 6}});

  const auto restored = make_source(epoch, start);
  RoundStart again;
  restored->save(again);
  CHECK(again.window == start.window);
  CHECK(restored->remaining() == 10);
  CHECK(restored->upcoming(6) == Views{2, 3, 4, 5, 6, 7});
  fill(*restored);
  fill(*source);
  const std::vector<Group> expected = take(*source, 3);
  CHECK(take(*restored, 3) == expected);
  CHECK(views(expected[2]) == Views{6, 7});
}

TEST_CASE("left-out rows make a batch smaller, a batch without rows is skipped") {
  const Epoch epoch = small_epoch(2);
  const auto source = make_source(epoch, start_of_epoch(epoch, 0, 1));
  source->leave_out(0);
  source->deliver(item(1));
  source->leave_out(2);
  source->leave_out(3);
  CHECK(source->filling());
  fill(*source);
  CHECK(source->remaining() == 9);
  const std::vector<Group> groups = take(*source, 2);
  CHECK(views(groups[0]) == Views{1});
  CHECK(views(groups[1]) == Views{4, 5});
}

TEST_CASE("a restored batch may lose rows too") {
  const Epoch epoch = small_epoch(3);
  RoundStart start = start_of_epoch(epoch, 0, 1);
  const auto source = make_source(epoch, start);
  fill(*source);
  take(*source, 1);
  source->save(start);
  const auto restored = make_source(epoch, start);
  restored->deliver(item(2));
  restored->leave_out(3);
  restored->leave_out(4);
  restored->leave_out(5);
  fill(*restored);
  const std::vector<Group> groups = take(*restored, 2);
  CHECK(views(groups[0]) == Views{2});
  CHECK(views(groups[1]) == Views{6, 7});
}

TEST_CASE("leftover views come first, cut by the plan's limit") {
  const Epoch epoch = small_epoch(4);
  RoundStart start = start_of_epoch(epoch, 0, 3);  // batches 0 and 3
  start.sampler.leftover_begin = 1;
  start.sampler.leftover_end = 4;
  const auto leftovers = std::make_shared<const Views>(Views{2, 3, 4, 5});
  const auto source = make_source(epoch, start, leftovers);
  CHECK(source->remaining() == 7);
  CHECK(source->upcoming(100) == Views{3, 4, 5, 0, 1, 6, 7});
  fill(*source);
  const std::vector<Group> groups = take(*source, 4);
  CHECK(views(groups[0]) == Views{3, 4});
  CHECK(views(groups[1]) == Views{5});
  CHECK(views(groups[2]) == Views{0, 1});
  CHECK(views(groups[3]) == Views{6, 7});
}

TEST_CASE("batches are split when there are fewer than the requested groups") {
  const Epoch epoch = small_epoch(1);
  const auto source = make_source(epoch, start_of_epoch(epoch, 0, 1));
  fill(*source);
  const std::vector<Group> groups = take(*source, 2);
  CHECK(groups[0].sums.rows == 1);
  CHECK(groups[1].sums.rows == 1);
  CHECK(source->remaining() == 10);
}

TEST_CASE("a length that differs from the plan is refused") {
  const Epoch epoch = small_epoch(2);
  const auto source = make_source(epoch, start_of_epoch(epoch, 0, 1));
  CHECK_THROWS_AS(source->deliver({.view = 0, .length = 11, .supervised = 1}), DataError);
}

TEST_CASE("a position of the sampler is a batch") {
  const Epoch epoch = small_epoch(2);
  CHECK(views_of_position(epoch)(1) == Views{2, 3});
  BatchingOptions standard = epoch.options;
  standard.strategy = Strategy::standard;
  const Epoch by_view = make_epoch(standard, 0, 12, 0, nullptr);
  CHECK(views_of_position(by_view)(3).size() == 1);
}
