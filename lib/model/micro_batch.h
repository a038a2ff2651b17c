// The input of one forward pass.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <c10/core/Event.h>
#include <torch/types.h>

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

}  // namespace odb
