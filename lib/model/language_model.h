// The language model: embedding, blocks, final norm, output head. Qwen3, and the families that its
// configuration covers (Qwen2, Llama); config.h says what differs.
//
// Batches are flat: tokens [tokens], with the offsets of their rows; a padded batch is one of equal
// rows. A row's result depends on that row only. Weights are fp32; activations fp32 or bf16.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include <torch/nn/module.h>

#include "model/files/config.h"
#include "model/layers/block.h"
#include "model/layers/token_loss.h"
#include "model/model_options.h"
#include "model/trainable_model.h"

namespace odb {

struct ComputeOptions {
  ComputeType dtype = ComputeType::fp32;
  Recompute recompute = Recompute::none;
  TokenLossOptions loss = {};
};

struct LossSum {
  torch::Tensor sum;       // 0-d, fp32, weighted; backward() gives gradients of the sum
  std::int64_t count = 0;  // supervised tokens
};

class LanguageModel final : public torch::nn::Module, public TrainableModel {
 public:
  // Parameters are named as in weight_names.h, on `device`, uninitialized: load or initialize them.
  LanguageModel(ModelConfig config, ComputeOptions options,
                torch::Device device = torch::Device(torch::kCPU));

  const ModelConfig& config() const { return config_; }
  // By name; "blocks.0.qkv" here is registered as "blocks_0_qkv" with LibTorch, which allows no
  // dots.
  const Weights& weights() const override { return weights_; }
  std::vector<std::string> weight_order() const override;

  // tokens: int64 [tokens], at least one, on the model's device. Returns the states after the final
  // norm, [tokens, hidden]. Throws DataError for an id beyond the vocabulary (checked on the CPU
  // only: on a GPU the check would wait for the device).
  torch::Tensor hidden_states(const torch::Tensor& tokens, const RowOffsets& rows);

  // fp32 logits [n, vocabulary] of hidden states [n, hidden].
  torch::Tensor logits(const torch::Tensor& hidden);

  // labels: int64 on the CPU, as token_loss.h expects, with the weights of rows if they differ.
  LossSum loss(const torch::Tensor& tokens, const torch::Tensor& labels, const RowOffsets& rows,
               std::span<const double> row_weights = {});
  // The same for a micro-batch; one part, "token".
  LossParts loss(const MicroBatch& batch) override;

  void load(FileSystem& files, const std::string& folder) override;
  void initialize(std::uint64_t seed) override;
  void save(FileSystem& files, const std::string& folder, const Weights& weights) const override;

 private:
  Linear head() const;

  ModelConfig config_;
  ComputeOptions options_;
  Weights weights_;
  std::vector<BlockParameters> blocks_;
  RotaryEmbedding rotary_;
};

}  // namespace odb
