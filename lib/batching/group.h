// A group: the samples of one micro-batch, with the sums that budget, cost and reports need.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "batching/item.h"
#include "batching/options.h"

namespace odb {

// 128 bits, because two squares of the longest permitted length would fill 63 bits.
__extension__ using SquareSum = unsigned __int128;

// Sums over the rows of a group (or of any set of samples).
struct GroupSums {
  std::int64_t rows = 0;
  std::int64_t tokens = 0;      // real tokens: sum of lengths
  std::int64_t supervised = 0;  // sum of supervised tokens
  SquareSum squares = 0;        // sum of length^2
  std::int64_t longest = 0;

  void add(const Item& item) {
    ++rows;
    tokens += item.length;
    supervised += item.supervised;
    squares += static_cast<SquareSum>(item.length) * static_cast<SquareSum>(item.length);
    longest = std::max<std::int64_t>(longest, item.length);
  }
  friend bool operator==(const GroupSums&, const GroupSums&) = default;
};

// How much work a group is for the device. The layout decides what is charged.
struct CostModel {
  Layout layout = Layout::flat;
  std::int64_t pad_multiple = 1;  // padded only
  double quadratic_cost = 0;      // q

  // Positions charged against L_max: real tokens (flat) or rows x padded longest (padded).
  std::int64_t charged(const GroupSums& sums) const;

  // tokens + q * sum(length^2), padded rows counted at their padded length. In tokens.
  double cost(const GroupSums& sums) const;

  // The length that a row takes in the batch: `length` (flat), or rounded up to the pad multiple.
  std::int64_t row_length(std::int64_t length) const;
};

CostModel cost_model(const BatchingOptions& resolved);

struct Group {
  std::vector<Item> rows;  // in the order of the batch
  GroupSums sums;          // of rows

  friend bool operator==(const Group&, const Group&) = default;
};

Group make_group(std::span<const Item> rows);

}  // namespace odb
