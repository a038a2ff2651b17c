// The part of a slot that goes into the model: the tokens on the device, the labels, and their
// weights.
//
// It is a copy, so the slot can be released at once. On a GPU, the copy to the device runs on its
// own stream, in parallel with the previous micro-batch.
#pragma once

#include <optional>

#include <torch/types.h>

#include "batching/options.h"
#include "data/loader/shared/arena.h"
#include "model/micro_batch.h"

namespace odb {

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
