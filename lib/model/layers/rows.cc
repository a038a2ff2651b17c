#include "model/layers/rows.h"

#include <algorithm>

#include "base/error.h"

namespace odb {

RowOffsets RowOffsets::of_lengths(std::span<const std::int64_t> lengths) {
  RowOffsets rows;
  rows.offsets_.reserve(lengths.size() + 1);
  for (const std::int64_t length : lengths) {
    ODB_CHECK_GE(length, 0);
    rows.offsets_.push_back(rows.offsets_.back() + length);
  }
  return rows;
}

RowOffsets RowOffsets::padded(std::int64_t rows, std::int64_t length) {
  return of_lengths(std::vector<std::int64_t>(static_cast<std::size_t>(rows), length));
}

std::int64_t RowOffsets::longest() const {
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < rows(); ++row)
    longest = std::max(longest, length(row));
  return longest;
}

std::vector<RowRun> RowOffsets::runs() const {
  std::vector<RowRun> runs;
  for (std::int64_t row = 0; row < rows(); ++row) {
    if (length(row) == 0) continue;
    if (!runs.empty() && runs.back().length == length(row))
      ++runs.back().rows;
    else
      runs.push_back({begin(row), 1, length(row)});
  }
  return runs;
}

}  // namespace odb
