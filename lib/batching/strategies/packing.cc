#include "batching/strategies/packing.h"

#include <map>
#include <utility>

#include "base/error.h"

namespace odb {
namespace {

// Rows that may still take a view, found by their room. Rows with less room than the shortest view
// are not kept.
class OpenRows {
 public:
  explicit OpenRows(std::int64_t shortest) : shortest_(shortest) {}

  void add(std::int64_t room, std::int64_t row) {
    if (room >= shortest_) rows_by_room_[room].push_back(row);
  }

  // Takes out a row with the least room that holds `length`: its room and number; -1: there is
  // none. Of several the newest.
  std::pair<std::int64_t, std::int64_t> take(std::int64_t length) {
    const auto place = rows_by_room_.lower_bound(length);
    if (place == rows_by_room_.end()) return {0, -1};
    const std::pair<std::int64_t, std::int64_t> found{place->first, place->second.back()};
    place->second.pop_back();
    if (place->second.empty()) rows_by_room_.erase(place);
    return found;
  }

 private:
  std::int64_t shortest_;
  std::map<std::int64_t, std::vector<std::int64_t>> rows_by_room_;
};

// The row of each of `views` (longest first); rows are numbered from 0 in the order of opening.
std::vector<std::int64_t> best_fit_decreasing(const EpochPlan& plan,
                                              const std::vector<ViewId>& views, std::int64_t l_max,
                                              std::int64_t& rows) {
  std::vector<std::int64_t> row_of(views.size());
  if (views.empty()) return row_of;
  OpenRows open(planned_length(plan, views.back()));
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::int64_t length = planned_length(plan, views[i]);
    auto [room, row] = open.take(length);
    if (row < 0) {
      row = rows++;
      room = l_max;
    }
    row_of[i] = row;
    open.add(room - length, row);
  }
  return row_of;
}

}  // namespace

EpochPlan plan_packing(const PlanInput& input) {
  if (input.options.layout != Layout::flat)
    throw UsageError(
        "--batching packing with --layout padded: a packed row has samples of different lengths "
        "one after another; use --layout flat");
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
    ++plan.batches[static_cast<std::size_t>(row)].end;
  std::int64_t begin = 0;
  for (BatchRange& batch : plan.batches) {
    const std::int64_t size = std::exchange(batch.end, begin);
    batch.begin = begin;
    begin += size;
  }
  plan.order.resize(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    BatchRange& batch = plan.batches[static_cast<std::size_t>(row_of[i])];
    plan.order[static_cast<std::size_t>(batch.end++)] = views[i];
  }
  shuffle_batches(plan, input);
  return plan;
}

}  // namespace odb
