#include "batching/grouping.h"

#include <algorithm>
#include <bit>

#include "property.h"

using namespace odb;

namespace {

// Views are numbered from 0 in the given order.
std::vector<Item> items(const std::vector<std::int32_t>& lengths) {
  std::vector<Item> result;
  result.reserve(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i)
    result.push_back({.view = static_cast<ViewId>(i), .length = lengths[i], .supervised = 1});
  return result;
}

GroupingRule rule(Grouping grouping, Layout layout, std::int64_t l_max, std::int64_t multiple = 1) {
  return {
      .grouping = grouping, .model = {.layout = layout, .pad_multiple = multiple}, .l_max = l_max};
}

struct Shown {  // a group as views and whether it is full
  std::vector<ViewId> views;
  bool full;
  bool operator==(const Shown&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Shown& group) {
  for (const ViewId view : group.views)
    out << view << ' ';
  return out << (group.full ? "full" : "open");
}

std::vector<Shown> groups_of(const GroupingRule& rule, const std::vector<Item>& window) {
  Partition partition;
  partition_window(rule, window, partition);
  std::vector<Shown> shown;
  for (const GroupSpan& span : partition.groups) {
    Shown group{{}, span.full};
    GroupSums sums;
    for (const std::int32_t member : partition.members_of(span)) {
      group.views.push_back(window[static_cast<std::size_t>(member)].view);
      sums.add(window[static_cast<std::size_t>(member)]);
    }
    CHECK(sums == span.sums);
    shown.push_back(group);
  }
  return shown;
}

// The minimum number of groups of any partition within the budget, by trying all.
std::size_t min_groups(const GroupingRule& rule, const std::vector<Item>& window) {
  const auto all = (1u << window.size()) - 1;
  std::vector<std::size_t> fewest(all + 1, window.size() + 1);
  fewest[0] = 0;
  for (unsigned set = 1; set <= all; ++set)
    for (unsigned group = set; group != 0; group = (group - 1) & set) {
      GroupSums sums;
      for (std::size_t i = 0; i < window.size(); ++i)
        if (group >> i & 1) sums.add(window[i]);
      if (sums.rows == 1 || rule.model.charged(sums) <= rule.l_max)
        fewest[set] = std::min(fewest[set], fewest[set ^ group] + 1);
    }
  return fewest[all];
}

}  // namespace

TEST_CASE("the squares of the longest lengths do not overflow") {
  GroupSums sums;
  for (ViewId view = 0; view < 8; ++view)
    sums.add({.view = view, .length = 2147483647, .supervised = 1});
  const CostModel model{.layout = Layout::flat, .pad_multiple = 1, .quadratic_cost = 1};
  CHECK(model.cost(sums) == Approx(8 * 2147483647.0 * 2147483648.0));
}

TEST_CASE("greedy: the longest takes as many neighbors as fit at its own length") {
  struct Case {
    const char* what;
    std::vector<std::int32_t> lengths;
    std::vector<Shown> groups;
  };
  const Case cases[] = {
      {"nothing", {}, {}},
      {"one", {5}, {{{0}, false}}},
      {"one that leaves no room for another like it", {6}, {{{0}, true}}},
      {"sorted first", {2, 5, 3}, {{{1, 2}, true}, {{0}, false}}},
      {"equal lengths by view", {3, 3, 3, 3}, {{{0, 1, 2}, true}, {{3}, false}}},
      {"the last group is full when no shorter one could join", {3, 3, 3}, {{{0, 1, 2}, true}}},
      {"longer than the budget: alone", {11, 25, 1}, {{{1}, true}, {{0}, true}, {{2}, false}}},
      {"many short ones", {1, 1, 1, 1, 1}, {{{0, 1, 2, 3, 4}, false}}},
      {"a long one with room takes a short one",
       {9, 1, 5, 1},
       {{{0}, true}, {{2, 1}, true}, {{3}, false}}},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    CHECK(groups_of(rule(Grouping::greedy, Layout::padded, 10), items(c.lengths)) == c.groups);
    CHECK(groups_of(rule(Grouping::greedy, Layout::flat, 10), items(c.lengths)) == c.groups);
  }
}

TEST_CASE("greedy counts padded rows at their padded length") {
  // Rows of 9 take 16 each at a multiple of 8: two in a budget of 32, not three.
  const auto padded = rule(Grouping::greedy, Layout::padded, 32, 8);
  CHECK(groups_of(padded, items({9, 9, 9, 8})) ==
        std::vector<Shown>{{{0, 1}, true}, {{2, 3}, true}});
  // In the flat layout nothing is padded.
  const auto flat = rule(Grouping::greedy, Layout::flat, 32, 8);
  CHECK(groups_of(flat, items({9, 9, 9, 8})) ==
        std::vector<Shown>{{{0, 1, 2}, true}, {{3}, false}});
}

TEST_CASE("fit: each sample joins the group that it leaves with the least room") {
  struct Case {
    const char* what;
    std::vector<std::int32_t> lengths;
    std::vector<Shown> groups;
  };
  const Case cases[] = {
      {"nothing", {}, {}},
      {"one", {50}, {{{0}, false}}},
      {"draw order stays", {60, 70, 30, 40}, {{{0, 3}, true}, {{1, 2}, true}}},
      {"of equal room the older group", {60, 60, 20}, {{{0, 2}, true}, {{1}, false}}},
      {"98 of 100 is full though 1 would fit", {98, 1}, {{{0, 1}, true}}},
      {"97 of 100 is open", {97}, {{{0}, false}}},
      {"long ones do not wait for short ones",
       {70, 80, 60},
       {{{0}, true}, {{1}, true}, {{2}, false}}},
      {"open: the last one that is not full by itself",
       {70, 80, 60, 98},
       {{{0}, true}, {{1}, true}, {{2}, false}, {{3}, true}}},
      {"longer than the budget: alone", {150, 10, 150}, {{{0}, true}, {{1}, false}, {{2}, true}}},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    CHECK(groups_of(rule(Grouping::fit, Layout::flat, 100), items(c.lengths)) == c.groups);
  }
}

TEST_CASE("reusing a partition keeps nothing of its earlier content") {
  Partition partition;
  const auto greedy = rule(Grouping::greedy, Layout::flat, 10);
  partition_window(greedy, items({1, 2, 3, 4, 5, 6}), partition);
  partition_window(greedy, items({4, 4}), partition);
  CHECK(partition.members == std::vector<std::int32_t>{0, 1});
  REQUIRE(partition.groups.size() == 1);
  CHECK(partition.groups[0].sums.tokens == 8);
}

TEST_CASE("random windows: a partition within the budget, open only where it should be") {
  check_property("partition", 300, [] {
    const auto lengths = *rc::gen::container<std::vector<std::int32_t>>(rc::gen::inRange(1, 130));
    const auto l_max = *rc::gen::inRange<std::int64_t>(1, 120);
    const bool fit = *rc::gen::arbitrary<bool>();
    const auto r = rule(fit ? Grouping::fit : Grouping::greedy, Layout::flat, l_max);
    const std::vector<Item> window = items(lengths);
    Partition partition;
    partition_window(r, window, partition);
    std::vector<std::int32_t> members = partition.members;
    std::sort(members.begin(), members.end());
    RC_ASSERT(members.size() == window.size());
    for (std::size_t i = 0; i < members.size(); ++i)
      RC_ASSERT(members[i] == static_cast<std::int32_t>(i));
    GroupSums all;
    for (const Item& item : window)
      all.add(item);
    std::size_t open = 0;
    std::int64_t max_room = 0;  // maximum over the groups before
    for (const GroupSpan& span : partition.groups) {
      RC_ASSERT(span.sums.rows == span.end - span.begin);
      RC_ASSERT(span.sums.rows >= 1);
      RC_ASSERT(span.sums.rows == 1 || span.sums.tokens <= l_max);
      open += !span.full;
      if (!fit) continue;
      RC_ASSERT(span.full || span.sums.tokens < r.full_charge());
      RC_ASSERT(open == 0u || !span.full || span.sums.tokens >= r.full_charge());
      const Item& first = window[static_cast<std::size_t>(partition.members_of(span).front())];
      RC_ASSERT(&span == &partition.groups.front() || first.length > max_room);
      max_room = std::max(max_room, l_max - span.sums.tokens);
    }
    RC_ASSERT(open <= 1u);
    // Where the window's own test says "keep filling", it agrees with the partition.
    if (!window.empty() && is_one_open_group(r, all)) RC_ASSERT(partition.groups.size() == 1u);
    if (partition.groups.size() == 1)
      RC_ASSERT(partition.groups[0].full == !is_one_open_group(r, all));
  });
}

TEST_CASE("no partition has fewer groups than greedy's") {
  check_property("fewest groups", 150, [] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 9);
    const auto lengths =
        *rc::gen::container<std::vector<std::int32_t>>(count, rc::gen::inRange(1, 25));
    const auto multiple = *rc::gen::inRange<std::int64_t>(1, 5);
    const auto r =
        rule(Grouping::greedy, Layout::padded, *rc::gen::inRange<std::int64_t>(1, 60), multiple);
    Partition partition;
    partition_window(r, items(lengths), partition);
    RC_ASSERT(partition.groups.size() == min_groups(r, items(lengths)));
  });
}

TEST_CASE("cost is tokens plus q times squares, padded rows at their padded length") {
  const Group group = make_group(items({3, 9, 4}));
  CHECK(group.sums == GroupSums{3, 16, 3, 9 + 81 + 16, 9});
  const CostModel flat{.layout = Layout::flat, .quadratic_cost = 0.5};
  CHECK(flat.charged(group.sums) == 16);
  CHECK(flat.cost(group.sums) == 16 + 0.5 * 106);
  const CostModel padded{.layout = Layout::padded, .pad_multiple = 4, .quadratic_cost = 0.5};
  CHECK(padded.charged(group.sums) == 36);
  CHECK(padded.cost(group.sums) == 36 + 0.5 * 3 * 144);
}
