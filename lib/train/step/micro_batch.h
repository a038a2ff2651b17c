// The part of a slot that goes into the model: the tokens on the device, the labels, and their
// weights.
//
// It is a copy, so the slot can be released at once. On a GPU, the copy to the device runs on its
// own stream, in parallel with the previous micro-batch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <c10/core/Event.h>
#include <torch/types.h>

#include "batching/options.h"
#include "data/loader/shared/arena.h"
#include "model/layers/rows.h"

namespace odb {

struct MicroBatch {
  torch::Tensor tokens;  // int64 [tokens] (flat) or [rows * columns] (padded), on the device
  torch::Tensor labels;  // int64, as long, on the CPU; -100: not supervised
  RowOffsets rows;
  std::vector<double> row_weights;      // of every supervised token of a row; empty: all 1
  std::int64_t supervised = 0;          // tokens; 0: nothing to learn here
  std::optional<c10::Event> on_device;  // GPU: when the tokens have arrived
};

class MicroBatchBuilder {
 public:
  MicroBatchBuilder(torch::Device device, LossNorm norm);

  // Copies a slot that has data. The view may be released on return.
  MicroBatch build(const BatchView& batch) const;

 private:
  torch::Device device_;
  LossNorm norm_;
  std::optional<c10::Stream> copies_;
};

// Call it before the tokens are used. Work that follows waits for their arrival, the caller does
// not.
void await_tokens(const MicroBatch& batch);

}  // namespace odb
