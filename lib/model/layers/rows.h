// Where the rows of a batch begin. Tokens lie flat, [tokens, ...], one row after the other; a
// padded batch is the case of equal rows. Attention is the only part of a model that sees rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/index.h"

namespace odb {

// Neighboring rows of the same length, which attention can process at once.
struct RowRun {
  std::int64_t first_token = 0;
  std::int64_t rows = 0;
  std::int64_t length = 0;

  std::int64_t tokens() const { return rows * length; }
};

class RowOffsets {
 public:
  // Rows may be empty; lengths are not negative (checked).
  static RowOffsets of_lengths(std::span<const std::int64_t> lengths);
  static RowOffsets padded(std::int64_t rows, std::int64_t length);

  std::int64_t rows() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  std::int64_t tokens() const { return offsets_.back(); }
  std::int64_t begin(std::int64_t row) const { return at(offsets_, row); }
  std::int64_t end(std::int64_t row) const { return begin(row + 1); }
  std::int64_t length(std::int64_t row) const { return end(row) - begin(row); }
  std::int64_t longest() const;
  // 0 first, the number of tokens last.
  const std::vector<std::int64_t>& offsets() const { return offsets_; }
  // All tokens, without empty rows.
  std::vector<RowRun> runs() const;

 private:
  std::vector<std::int64_t> offsets_ = {0};
};

}  // namespace odb
