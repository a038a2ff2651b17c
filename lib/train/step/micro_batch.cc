#include "train/step/micro_batch.h"

#include <algorithm>
#include <span>

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "base/error.h"
#include "base/ignore_index.h"
#include "batching/loss_weights.h"
#include "model/layers/token_loss.h"

namespace odb {
namespace {

torch::Tensor as_int64(std::span<const std::int32_t> values, bool pinned) {
  const auto options = torch::TensorOptions(torch::kLong).pinned_memory(pinned);
  const torch::Tensor result = torch::empty({static_cast<std::int64_t>(values.size())}, options);
  std::ranges::copy(values, result.mutable_data_ptr<std::int64_t>());
  return result;
}

RowOffsets rows_of(const BatchView& batch) {
  if (batch.header.layout == Layout::padded)
    return RowOffsets::padded(batch.header.rows, batch.header.columns);
  std::vector<std::int64_t> lengths;
  lengths.reserve(batch.views.size());
  for (std::size_t row = 0; row + 1 < batch.offsets.size(); ++row)
    lengths.push_back(batch.offsets[row + 1] - batch.offsets[row]);
  return RowOffsets::of_lengths(lengths);
}

std::vector<double> weights_of(LossNorm norm, std::span<const std::int32_t> labels,
                               const RowOffsets& rows, std::int64_t supervised) {
  if (norm == LossNorm::token) return {};
  std::vector<double> weights;
  for (std::int64_t row = 0; row < rows.rows(); ++row) {
    const auto of_row = labels.subspan(static_cast<std::size_t>(rows.begin(row)),
                                       static_cast<std::size_t>(rows.length(row)));
    const std::int64_t count =
        std::ranges::count_if(of_row, [](std::int32_t label) { return label != kIgnoreIndex; });
    weights.push_back(count == 0 ? 0 : token_weight(norm, count, supervised));
  }
  return weights;
}

}  // namespace

MicroBatchBuilder::MicroBatchBuilder(torch::Device device, LossNorm norm)
    : device_(device), norm_(norm) {
  if (!device.is_cpu())
    copies_ = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

MicroBatch MicroBatchBuilder::build(const BatchView& batch) const {
  ODB_CHECK_EQ(batch.ids.size(), batch.labels.size());
  MicroBatch made{.tokens = as_int64(batch.ids, copies_.has_value()),
                  .labels = as_int64(batch.labels, false),
                  .rows = rows_of(batch),
                  .row_weights = {},
                  .supervised = batch.header.supervised,
                  .on_device = std::nullopt};
  made.row_weights = weights_of(norm_, batch.labels, made.rows, made.supervised);
  if (copies_) {
    const c10::StreamGuard guard(*copies_);
    made.tokens = made.tokens.to(device_, /*non_blocking=*/true);
    made.on_device.emplace(device_.type());
    made.on_device->record(*copies_);
  }
  return made;
}

void await_tokens(const MicroBatch& batch) {
  if (!batch.on_device) return;
  const c10::impl::VirtualGuardImpl device(batch.tokens.device().type());
  const c10::Stream current = device.getStream(batch.tokens.device());
  batch.on_device->block(current);
  batch.tokens.record_stream(current);
}

}  // namespace odb
