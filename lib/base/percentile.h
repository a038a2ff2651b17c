// Percentiles of measured values: values that were measured, never a mean of two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/error.h"

namespace odb {

// The smallest of the values (`sorted` ascending, not empty) that at least `percent` % of them do
// not exceed.
template <typename T>
T percentile(const std::vector<T>& sorted, std::size_t percent) {
  ODB_CHECK(!sorted.empty(), "the {} % of no values", percent);
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

// Values in any order; for an even count, the lower of the two in the middle.
template <typename T>
T median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return percentile(values, 50);
}

}  // namespace odb
