#include "batching/window.h"

#include "base/error.h"
#include "batching/state.h"
#include "catch.h"

using namespace odb;

namespace {

BatchingOptions options(Grouping grouping, std::int64_t l_max, std::int64_t window) {
  BatchingOptions o;
  o.grouping = grouping;
  o.l_max = l_max;
  o.window = window;
  o.pad_multiple = 1;
  return resolve(o, Layout::flat);
}

// How many samples of these lengths, repeated endlessly, the window takes.
std::int64_t filled(const BatchingOptions& o, const std::vector<std::int32_t>& lengths,
                    std::int64_t target) {
  Window window(o);
  for (ViewId view = 0; window.wants_more(target); ++view)
    window.add({view, lengths[static_cast<std::size_t>(view) % lengths.size()], 1}, 0);
  return window.size();
}

}  // namespace

TEST_CASE("a window fills to its target, to 128 budgets of tokens, or on to a full group") {
  struct Case {
    const char* what;
    Grouping grouping;
    std::int64_t l_max;
    std::vector<std::int32_t> lengths;
    std::int64_t target;
    std::int64_t filled;
  };
  const Case cases[] = {
      {"the target", Grouping::fit, 100, {50}, 20, 20},
      {"the target", Grouping::greedy, 100, {50}, 20, 20},
      {"128 budgets", Grouping::fit, 100, {50}, 1000, 256},
      {"128 budgets", Grouping::greedy, 100, {50}, 1000, 256},
      {"all short: until 98 % of the budget", Grouping::fit, 100, {1}, 10, 98},
      {"all short: until one more could not join", Grouping::greedy, 100, {1}, 10, 100},
      {"one long one is full at once", Grouping::greedy, 100, {60}, 1, 1},
      {"one long one leaves room", Grouping::fit, 100, {60}, 1, 2},
      {"over the budget", Grouping::fit, 100, {130}, 1, 1},
      {"over the budget", Grouping::greedy, 100, {130}, 1, 1},
  };
  for (const Case& c : cases) {
    INFO(c.what << ", " << name(c.grouping));
    CHECK(filled(options(c.grouping, c.l_max, 1000), c.lengths, c.target) == c.filled);
  }
}

TEST_CASE("the fill target doubles from 256 to the window") {
  std::vector<std::int64_t> targets;
  for (std::int64_t t = first_fill_target(1500); targets.size() < 5; t = next_fill_target(t, 1500))
    targets.push_back(t);
  CHECK(targets == std::vector<std::int64_t>{256, 512, 1024, 1500, 1500});
  CHECK(first_fill_target(10) == 10);
  CHECK(next_fill_target(10, 10) == 10);
}

TEST_CASE("samples that are not removed are sent back once more, in unchanged order") {
  Window window(options(Grouping::fit, 100, 10));
  for (ViewId view = 0; view < 5; ++view)
    window.add({view, 10, 1}, view == 1 ? 7 : 0);
  const std::vector<std::int32_t> left = {3, 0};
  window.remove(left);
  CHECK(window.entries() == std::vector<WindowEntry>{{1, 8}, {2, 1}, {4, 1}});
  window.add({9, 10, 1}, 0);
  window.remove({});
  CHECK(window.entries() == std::vector<WindowEntry>{{1, 9}, {2, 2}, {4, 2}, {9, 1}});
  const std::vector<std::int32_t> twice = {1, 1};
  CHECK_THROWS_AS(window.remove(twice), InternalError);
}

TEST_CASE("sorting keeps each sample's count, also after samples are removed and added") {
  Window window(options(Grouping::greedy, 100, 10));
  window.add({0, 10, 1}, 5);
  window.add({1, 30, 1}, 6);
  window.add({2, 20, 1}, 7);
  window.sort_longer_first();
  CHECK(window.entries() == std::vector<WindowEntry>{{1, 6}, {2, 7}, {0, 5}});
  const std::vector<std::int32_t> left = {1};
  window.remove(left);
  window.add({3, 30, 1}, 0);
  window.add({4, 5, 1}, 0);
  window.add({5, 25, 1}, 0);
  window.sort_longer_first();
  CHECK(window.entries() == std::vector<WindowEntry>{{1, 7}, {3, 0}, {5, 0}, {0, 6}, {4, 0}});
}
