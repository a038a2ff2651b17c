// Causal attention of one row on the CPU, forward and backward, without the matrix of all weights:
// blocks of queries meet blocks of keys, and a running maximum keeps the softmax exact. (Dao et
// al., "FlashAttention", 2022, algorithms 1 and 4; Dao, "FlashAttention-2", 2023, section 3.1.)
//
// Why not LibTorch's: it calls a matrix library with products too narrow for it (one head). Here
// the query heads that share a key head form one tall product, and a block's data stays in the
// first caches. Free of LibTorch. fp32 throughout.
#pragma once

#include <cstdint>
#include <optional>

namespace odb::attention {

// Queries are [length, heads, head_size], keys and values [length, key_value_heads, head_size].
struct Shape {
  std::int64_t length = 0;  // tokens of the row
  std::int64_t heads = 0;
  std::int64_t key_value_heads = 0;  // divides heads
  std::int64_t head_size = 0;        // a multiple of 16
};

// The instruction sets of the kernels: x86-64-v3 (AVX2) and v4 (AVX-512).
enum class Instructions { avx2, avx512 };

// The best one of this processor; none: it has neither, or the head size is not supported.
std::optional<Instructions> instructions_for(std::int64_t head_size);

// The inputs of one call, of a whole row; scores are multiplied by 1 / sqrt(head_size).
struct Inputs {
  const float* queries;
  const float* keys;
  const float* values;
};

// Working memory, in floats, of a call on a row of this shape, or a shorter one.
std::int64_t workspace_size(const Shape& shape);

// One key head of a row and its query heads: writes their part of `out` [length, heads, head_size]
// and of `logsumexp` [length, heads], the logarithm of each query's sum of exponentials. Heads can
// be done in parallel. `instructions` must be ones that the processor has.
void forward(Instructions instructions, const Inputs& inputs, const Shape& shape,
             std::int64_t key_value_head, float* out, float* logsumexp, float* workspace);

// What the backward pass needs beside the inputs.
struct Outputs {
  const float* out;
  const float* logsumexp;
  const float* d_out;
};
struct Gradients {
  float* queries;
  float* keys;
  float* values;
};

// Writes the gradients of one key head and its query heads.
void backward(Instructions instructions, const Inputs& inputs, const Outputs& outputs,
              const Shape& shape, std::int64_t key_value_head, const Gradients& gradients,
              float* workspace);

}  // namespace odb::attention
