// Partitions a window into groups within the budget, and says which of them are full.
//
//   greedy  sorted by length, longest first; the longest takes as many neighbors as fit at its own
//           length. The paper's rule. Except for its last group, no partition has fewer groups.
//   fit     best fit in draw order: each sample joins the group that it leaves with the least room,
//           or opens one. Batches stay random in length; flat layout only.
//
// All groups but one are full. Under fit a new group is opened only when no open group has room, so
// only the last group below 98 % of the budget can be expected to grow. Waiting for more than that
// would hold back long samples, which seldom find a short one, until only they are left.
//
// A sample longer than the budget is a group of its own. No group is empty, every sample is in
// exactly one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/index.h"
#include "batching/group.h"
#include "batching/item.h"
#include "batching/options.h"

namespace odb {

struct GroupingRule {
  Grouping grouping = Grouping::fit;
  CostModel model;
  std::int64_t l_max = 0;

  // The charge from which a `fit` group is full by itself: 98 % of L_max, rounded up.
  std::int64_t full_charge() const { return l_max - l_max / 50; }
};

GroupingRule grouping_rule(const BatchingOptions& resolved);

// True: samples with these sums form a single group that a further sample could still join.
bool is_one_open_group(const GroupingRule& rule, const GroupSums& sums);

// The order of greedy: longest first, equal lengths by view.
inline bool longer_first(const Item& a, const Item& b) {
  return a.length != b.length ? a.length > b.length : a.view < b.view;
}

// A group of a partition: members[begin..end).
struct GroupSpan {
  std::int32_t begin = 0;
  std::int32_t end = 0;
  GroupSums sums;
  bool full = false;  // greedy: no shorter sample could join; fit: all but the last of those that
                      // are charged less than full_charge()
};

// A partition of a window. Kept between rounds to reuse its memory.
struct Partition {
  std::vector<std::int32_t> members;  // indexes into the window, group after group
  std::vector<GroupSpan> groups;

  std::span<const std::int32_t> members_of(const GroupSpan& group) const {
    return slice(members, group.begin, group.end);
  }
};

// Groups `window` (in draw order) into `partition`, replacing its content. Greedy: longest group
// first, rows longest first, equal lengths by view. Fit: groups in order of their first sample,
// rows in draw order. O(n log n).
void partition_window(const GroupingRule& rule, std::span<const Item> window, Partition& partition);

}  // namespace odb
