#include "data/loader/slot_writer.h"

#include <algorithm>

#include "base/error.h"
#include "base/ignore_index.h"

namespace odb {
namespace {

constexpr TokenId kPadToken = 0;  // any id: no real token attends to it

void write_rows(const Group& group, std::size_t columns, SampleStore& store,
                const SlotBuffers& buffers) {
  std::size_t begin = 0;
  std::int32_t end_of_tokens = 0;
  buffers.offsets[0] = 0;
  for (std::size_t row = 0; row < group.rows.size(); ++row) {
    const Item& item = group.rows[row];
    const std::size_t length =
        store.take(item.view, buffers.ids.subspan(begin), buffers.labels.subspan(begin));
    ODB_CHECK_EQ(length, static_cast<std::size_t>(item.length));
    end_of_tokens += item.length;
    buffers.offsets[row + 1] = end_of_tokens;
    buffers.views[row] = item.view;
    const std::size_t width = std::max(columns, length);
    const std::size_t fill = width - length;
    std::fill_n(buffers.ids.begin() + static_cast<std::ptrdiff_t>(begin + length), fill, kPadToken);
    std::fill_n(buffers.labels.begin() + static_cast<std::ptrdiff_t>(begin + length), fill,
                kIgnoreIndex);
    begin += width;
  }
}

}  // namespace

void write_slot(const Slot& slot, const SlotNumbers& at, const CostModel& model, SampleStore& store,
                const SlotBuffers& buffers) {
  const GroupSums& sums = slot.group.sums;
  const bool padded = model.layout == Layout::padded;
  const std::int64_t columns = padded && sums.rows > 0 ? model.row_length(sums.longest) : 0;
  const std::int64_t padded_tokens = padded ? sums.rows * columns : sums.tokens;
  ODB_CHECK_LE(padded_tokens, static_cast<std::int64_t>(buffers.ids.size()));
  ODB_CHECK_LE(slot.left_out.size(), buffers.left_out.size());
  *buffers.header = {.sequence = at.sequence,
                     .ordinal = at.ordinal,
                     .epoch = at.epoch,
                     .number = slot.number,
                     .round = slot.round,
                     .index_in_round = slot.index_in_round,
                     .kind = slot.kind,
                     .last_of_step = slot.last_of_step,
                     .over_budget = slot.over_budget,
                     .layout = model.layout,
                     .totals = slot.totals,
                     .rows = sums.rows,
                     .columns = columns,
                     .tokens = sums.tokens,
                     .supervised = sums.supervised,
                     .padded_tokens = padded_tokens,
                     .left_out = static_cast<std::int64_t>(slot.left_out.size())};
  write_rows(slot.group, static_cast<std::size_t>(columns), store, buffers);
  std::copy(slot.left_out.begin(), slot.left_out.end(), buffers.left_out.begin());
}

void skip_slot(const Slot& slot, SampleStore& store) {
  for (const Item& item : slot.group.rows)
    store.drop(item.view);
}

}  // namespace odb
