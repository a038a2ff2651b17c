// What training a model costs, before any of it is allocated or computed: the memory of a rank, by
// part (the sum of what the code holds at the peak of a step, and what was measured for the process
// around it; docs/model.md has the table), and how the time of a sample grows with its length.
#pragma once

#include <cstdint>

#include "model/files/config.h"
#include "model/model_options.h"

namespace odb {

// Bytes; none above 2^59, however large the model and its micro-batches are.
struct MemoryEstimate {
  std::int64_t weights = 0;    // fp32
  std::int64_t gradients = 0;  // fp32, one for each weight: views of the buckets that ranks add up
  std::int64_t optimizer = 0;  // AdamW: two fp32 values for each weight
  std::int64_t copies = 0;     // bf16 copies of the blocks' matrices, from forward to backward
  std::int64_t activations = 0;  // what is kept from forward to backward
  // What comes on top at the peak: in the token loss (a chunk of logits, the head's gradient and
  // copies of the head) or within a block's backward. Where the embedding's gradient is computed at
  // the end, a tied head's waits for it: never more than in the loss.
  std::int64_t working = 0;
  // LibTorch itself, oneDNN's kernel cache, and kept memory beyond what tensors need:
  // measured after some dozens of steps.
  std::int64_t process = 0;

  std::int64_t total() const {
    return weights + gradients + optimizer + copies + activations + working + process;
  }
};

// For micro-batches of `tokens` tokens, in the worst case all supervised. For the CPU; the parts up
// to `working` hold for a GPU, too.
MemoryEstimate estimate_memory(const ModelConfig& config, const ModelOptions& options,
                               std::int64_t tokens);

// q of cost = tokens + q * sum(length^2), in tokens: the multiplications of causal attention over a
// row (length^2 / 2 pairs, two products), divided by those of one token in all matrices. The output
// head counts for half of the tokens.
double quadratic_cost(const ModelConfig& config);

}  // namespace odb
