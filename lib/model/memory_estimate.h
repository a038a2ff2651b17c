// How much memory a rank needs to train a model, by part, before any of it is taken. Sums of what
// the code keeps; what LibTorch's allocators keep back is not in it.
#pragma once

#include <cstdint>

#include "model/config.h"
#include "model/model_options.h"

namespace odb {

// Bytes.
struct MemoryEstimate {
  std::int64_t weights = 0;      // fp32
  std::int64_t gradients = 0;    // fp32, one for each weight
  std::int64_t optimizer = 0;    // AdamW: two fp32 values for each weight
  std::int64_t copies = 0;       // bf16 copies of matrices, from forward to backward
  std::int64_t activations = 0;  // what blocks keep for backward, and the working space of one
  std::int64_t loss = 0;         // a chunk of logits; a second embedding gradient where it is tied

  std::int64_t total() const {
    return weights + gradients + optimizer + copies + activations + loss;
  }
};

// For micro-batches of `tokens` tokens, all of them supervised at worst.
MemoryEstimate estimate_memory(const ModelConfig& config, const ModelOptions& options,
                               std::int64_t tokens);

}  // namespace odb
