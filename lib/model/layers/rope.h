// Rotary position embedding (Su et al., "RoFormer", 2021), applied to the queries and keys of the
// fused projection together with their norms, where the model has these.
#pragma once

#include <torch/types.h>

#include "model/files/config.h"
#include "model/layers/rows.h"

namespace odb {

// Cosines and sines of each token of a batch, fp32, [tokens, head_size / 2]; times the attention
// factor where the rope type has one. Shared by all blocks.
struct RotaryTables {
  torch::Tensor cosines;
  torch::Tensor sines;
};

// Builds the tables of batches. Tables of positions are built once, and extended for a longer row;
// a row that is stretched by its own length (dynamic scaling) gets a table of its own.
class RotaryEmbedding {
 public:
  explicit RotaryEmbedding(const ModelConfig& config) : config_(config) {}

  RotaryTables of(const RowOffsets& rows, torch::Device device);

 private:
  RotaryTables positions(std::int64_t count, torch::Device device);

  ModelConfig config_;
  RotaryTables known_;  // of positions 0 .. n-1
};

struct AttentionInputs {
  torch::Tensor queries;  // [tokens, heads, head_size]
  torch::Tensor keys;     // [tokens, key_value_heads, head_size]
  torch::Tensor values;   // as keys
};

// qkv: [tokens, (heads + 2 * key_value_heads) * head_size]. The norm weights ([head_size]) are
// undefined in models without. Differentiable by qkv and the weights.
AttentionInputs rotate_heads(const torch::Tensor& qkv, const torch::Tensor& query_norm,
                             const torch::Tensor& key_norm, const RotaryTables& tables,
                             const ModelConfig& config);

}  // namespace odb
