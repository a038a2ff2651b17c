// Causal attention with grouped queries (Vaswani et al. 2017; Ainslie et al., "GQA", 2023): every
// token sees itself and what came before it in its own row; neighboring query heads share a key
// and value head. No mask tensor and no repeated keys exist.
#pragma once

#include "model/layers/rope.h"
#include "model/layers/rows.h"

namespace odb {

// Returns [tokens, heads * head_size]. On the CPU: the kernels of attention_kernel.h for fp32 and
// bf16, computed in fp32; where these do not apply (fp64, odd head sizes, other processors) one
// call of scaled_dot_product_attention for each run of equal rows. On CUDA: one call of LibTorch's
// variable-length kernels for all rows, flash for bf16, memory-efficient for fp32.
torch::Tensor attend(const AttentionInputs& inputs, const RowOffsets& rows);

}  // namespace odb
