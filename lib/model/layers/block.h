// One transformer block: norm, attention, norm, feed-forward, each half added to the residual
// stream.
//
// A block takes the stream and the delta still to be added to it, and returns the same pair. So
// every addition is fused with the norm that follows it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <torch/types.h>

#include "model/files/config.h"
#include "model/layers/linear.h"
#include "model/layers/rope.h"
#include "model/layers/rows.h"

namespace odb {

// The inputs that all blocks share.
struct BatchShape {
  RowOffsets rows;
  RotaryTables tables;
};

struct Residual {
  torch::Tensor stream;  // [tokens, hidden]
  torch::Tensor delta;   // to be added to it; undefined: nothing
};

// The stream with its delta added, and the norm of that.
struct NormedResidual {
  torch::Tensor stream;
  torch::Tensor normed;
};
NormedResidual add_and_norm(const Residual& residual, const torch::Tensor& weight, double epsilon);

// Parameters of one block by the part of their name after "blocks.N." (biases: "qkv_bias", ...),
// fp32; those that the model does not have are undefined.
struct BlockParameters {
  torch::Tensor attention_norm;
  Linear qkv;  // queries, keys and values
  torch::Tensor query_norm, key_norm;
  Linear attention_out;
  torch::Tensor mlp_norm;
  Linear gate_up, down;

  static BlockParameters from(const std::map<std::string, torch::Tensor>& parameters,
                              const std::string& prefix);
  // The defined ones, in a fixed order.
  std::vector<torch::Tensor*> defined();
};

Residual run_block(const Residual& input, const BlockParameters& parameters,
                   const BatchShape& batch, const ModelConfig& config);

// The same with gradient checkpointing: keeps only the input and computes the block again in
// backward. Gradients are equal.
Residual run_block_recomputed(const Residual& input, const BlockParameters& parameters,
                              const BatchShape& batch, const ModelConfig& config);

}  // namespace odb
