#include "batching/group.h"

#include "base/error.h"

namespace odb {

std::int64_t CostModel::row_length(std::int64_t length) const {
  if (layout == Layout::flat) return length;
  return (length + pad_multiple - 1) / pad_multiple * pad_multiple;
}

std::int64_t CostModel::charged(const GroupSums& sums) const {
  return layout == Layout::flat ? sums.tokens : sums.rows * row_length(sums.longest);
}

double CostModel::cost(const GroupSums& sums) const {
  const auto tokens = static_cast<double>(charged(sums));
  const double squares = layout == Layout::flat
                             ? static_cast<double>(sums.squares)
                             : tokens * static_cast<double>(row_length(sums.longest));
  return tokens + quadratic_cost * squares;
}

CostModel cost_model(const BatchingOptions& resolved) {
  ODB_CHECK(resolved.layout != Layout::automatic,
            "the layout is automatic: resolve() was not called");
  return {.layout = resolved.layout,
          .pad_multiple = resolved.pad_multiple,
          .quadratic_cost = resolved.quadratic_cost};
}

Group make_group(std::span<const Item> rows) {
  Group group{.rows = {rows.begin(), rows.end()}, .sums = {}};
  for (const Item& item : rows)
    group.sums.add(item);
  return group;
}

}  // namespace odb
