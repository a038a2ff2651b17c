#include "batching/strategies/packing.h"

#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "batching/strategies/number_set.h"

namespace odb {
namespace {

constexpr std::int64_t kLargestRow = std::int64_t{1} << 24;  // bounds the memory of OpenRows

constexpr std::int64_t kNoRow = -1;

// Rows with room left, indexed by their room. Each room has a list of rows, the newest first.
class OpenRows {
 public:
  explicit OpenRows(std::int64_t l_max)
      : rooms_(static_cast<std::size_t>(l_max) + 1),
        newest_(static_cast<std::size_t>(l_max) + 1, kNoRow) {}

  // Removes a row with the smallest room >= `length`. Returns {room, row}; row kNoRow: none.
  std::pair<std::int64_t, std::int64_t> take(std::int64_t length) {
    const auto room = rooms_.at_or_above(static_cast<std::size_t>(length));
    if (!room) return {0, kNoRow};
    const std::int64_t row = newest_[*room];
    newest_[*room] = at(next_, row);
    if (newest_[*room] == kNoRow) rooms_.erase(*room);
    return {static_cast<std::int64_t>(*room), row};
  }

  // Puts back a row that was taken, or adds the next new one.
  void put(std::int64_t room, std::int64_t row) {
    if (static_cast<std::size_t>(row) == next_.size()) next_.push_back(kNoRow);
    if (room < 1) return;
    std::int64_t& newest = at(newest_, room);
    at(next_, row) = std::exchange(newest, row);
    rooms_.insert(static_cast<std::size_t>(room));
  }

 private:
  NumberSet rooms_;
  std::vector<std::int64_t> newest_;  // by room
  std::vector<std::int64_t> next_;    // by row: the next older of the same room
};

// The row of each of `views` (longest first); rows are numbered from 0 in the order of opening.
std::vector<std::int64_t> best_fit_decreasing(const EpochPlan& plan,
                                              const std::vector<ViewId>& views, std::int64_t l_max,
                                              std::int64_t& rows) {
  std::vector<std::int64_t> row_of(views.size());
  OpenRows open(l_max);
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::int64_t length = planned_length(plan, views[i]);
    auto [room, row] = open.take(length);
    if (row == kNoRow) {
      row = rows++;
      room = l_max;
    }
    row_of[i] = row;
    open.put(room - length, row);
  }
  return row_of;
}

}  // namespace

EpochPlan plan_packing(const PlanInput& input) {
  ODB_CHECK(input.options.layout == Layout::flat, "resolve() sets the layout");
  if (input.options.l_max > kLargestRow)
    throw UsageError("--batching packing with --l-max {}; expected at most {} tokens a row",
                     input.options.l_max, kLargestRow);
  EpochPlan plan{.lengths = input.lengths,
                 .limit = token_budget_limit(input.options),
                 .order = {},
                 .batches = {}};
  const std::vector<ViewId> views = views_by_length(input, LengthOrder::longest_first);
  std::int64_t rows = 0;
  const std::vector<std::int64_t> row_of =
      best_fit_decreasing(plan, views, input.options.l_max, rows);

  plan.batches.resize(static_cast<std::size_t>(rows));
  for (const std::int64_t row : row_of)
    ++at(plan.batches, row).end;
  std::int64_t begin = 0;
  for (BatchRange& batch : plan.batches) {
    const std::int64_t size = std::exchange(batch.end, begin);
    batch.begin = begin;
    begin += size;
  }
  plan.order.resize(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    BatchRange& batch = at(plan.batches, row_of[i]);
    at(plan.order, batch.end++) = views[i];
  }
  shuffle_batches(plan, input);
  return plan;
}

}  // namespace odb
