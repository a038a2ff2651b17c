#include "batching/grouping.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/index.h"

namespace odb {
namespace {

void greedy(const GroupingRule& rule, std::span<const Item> window, Partition& partition) {
  auto& members = partition.members;
  for (std::size_t i = 0; i < window.size(); ++i)
    members.push_back(static_cast<std::int32_t>(i));
  if (!std::is_sorted(window.begin(), window.end(), longer_first))
    std::sort(members.begin(), members.end(), [&](std::int32_t a, std::int32_t b) {
      return longer_first(at(window, a), at(window, b));
    });
  const auto count = static_cast<std::int64_t>(members.size());
  for (std::int64_t begin = 0; begin < count;) {
    const Item& longest = at(window, at(members, begin));
    const std::int64_t most =
        std::max<std::int64_t>(1, rule.l_max / rule.model.row_length(longest.length));
    GroupSpan group;
    group.begin = static_cast<std::int32_t>(begin);
    group.end = static_cast<std::int32_t>(std::min(begin + most, count));
    for (const std::int32_t member : partition.members_of(group))
      group.sums.add(at(window, member));
    group.full = group.sums.rows == most;
    partition.groups.push_back(group);
    begin = group.end;
  }
}

// A group that may still grow. Ordered by room, then by age.
using Open = std::pair<std::int64_t, std::int32_t>;

// Gives each sample's group in `group_of`; the sums of the groups are set.
void best_fit(const GroupingRule& rule, std::span<const Item> window, Partition& partition,
              std::vector<std::int32_t>& group_of) {
  std::int64_t shortest = window.front().length;
  for (const Item& item : window)
    shortest = std::min<std::int64_t>(shortest, item.length);
  std::vector<Open> open;
  for (const Item& item : window) {
    auto place = std::lower_bound(open.begin(), open.end(), Open{item.length, 0});
    if (place == open.end()) {
      partition.groups.emplace_back();
      place =
          open.insert(place, {rule.l_max, static_cast<std::int32_t>(partition.groups.size()) - 1});
    }
    const Open joined{place->first - item.length, place->second};
    at(partition.groups, joined.second).sums.add(item);
    group_of.push_back(joined.second);
    if (joined.first < shortest) {
      open.erase(place);
    } else {  // its room shrank: it moves toward the front
      const auto target = std::lower_bound(open.begin(), place, joined);
      std::rotate(target, place, place + 1);
      *target = joined;
    }
  }
}

void fit(const GroupingRule& rule, std::span<const Item> window, Partition& partition) {
  if (window.empty()) return;
  std::vector<std::int32_t> group_of;
  group_of.reserve(window.size());
  best_fit(rule, window, partition, group_of);
  std::int32_t next = 0;
  for (GroupSpan& group : partition.groups) {
    group.begin = group.end = next;
    next += static_cast<std::int32_t>(group.sums.rows);
    group.full = true;
  }
  const auto last =
      std::find_if(partition.groups.rbegin(), partition.groups.rend(),
                   [&](const GroupSpan& group) { return group.sums.tokens < rule.full_charge(); });
  if (last != partition.groups.rend()) last->full = false;
  partition.members.resize(window.size());
  for (std::size_t i = 0; i < window.size(); ++i) {
    GroupSpan& group = at(partition.groups, group_of[i]);
    at(partition.members, group.end++) = static_cast<std::int32_t>(i);
  }
}

}  // namespace

GroupingRule grouping_rule(const BatchingOptions& resolved) {
  ODB_CHECK(resolved.grouping != Grouping::automatic,
            "the grouping is automatic: resolve() was not called");
  return {.grouping = resolved.grouping, .model = cost_model(resolved), .l_max = resolved.l_max};
}

bool is_one_open_group(const GroupingRule& rule, const GroupSums& sums) {
  if (sums.rows == 0) return true;
  if (rule.grouping == Grouping::fit) return sums.tokens < rule.full_charge();
  return (sums.rows + 1) * rule.model.row_length(sums.longest) <= rule.l_max;
}

void partition_window(const GroupingRule& rule, std::span<const Item> window,
                      Partition& partition) {
  partition.members.clear();
  partition.groups.clear();
  if (rule.grouping == Grouping::greedy)
    greedy(rule, window, partition);
  else
    fit(rule, window, partition);
}

}  // namespace odb
