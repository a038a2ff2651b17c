// A model of another kind than text: two loss parts, and a parameter that is not trained.
#pragma once

#include <string>

#include "base/rng.h"
#include "model/files/safetensors.h"
#include "model/trainable_model.h"
#include "train/output/optimizer_file.h"

namespace odb {

// Each token t is two numbers, its id and its label. Video: the squares of w_v * scale * id;
// action: the squares of w_a * label. `scale` is frozen.
class TwoPartModel final : public TrainableModel {
 public:
  TwoPartModel() {
    weights_ = {{"action", torch::zeros({3})},
                {"scale", torch::full({}, 2.0)},
                {"video", torch::zeros({3})}};
    for (auto& [name, weight] : weights_)
      weight.requires_grad_(is_trainable(name));
  }

  LossParts loss(const MicroBatch& batch) override {
    const auto sum = [](const torch::Tensor& weight, const torch::Tensor& values) {
      return torch::outer(values.to(torch::kFloat), weight).square().sum();
    };
    return {{.name = "video",
             .sum = sum(weights_.at("video") * weights_.at("scale"), batch.tokens),
             .count = batch.supervised},
            {.name = "action",
             .sum = sum(weights_.at("action"), batch.labels),
             .count = batch.supervised}};
  }
  const Weights& weights() const override { return weights_; }
  std::vector<std::string> weight_order() const override { return {"scale", "video", "action"}; }
  bool is_trainable(const std::string& name) const override { return name != "scale"; }

  void initialize(std::uint64_t seed) override {
    const torch::NoGradGuard no_grad;
    Rng rng(seed, RandomPurpose::tests);
    for (const char* name : {"action", "video"})
      for (int i = 0; i < 3; ++i)
        weights_.at(name)[i] = static_cast<float>(rng.normal());
  }
  // Its folder is one file of tensors.
  void load(FileSystem& files, const std::string& folder) override {
    const torch::NoGradGuard no_grad;
    for (const auto& [name, tensor] : read_optimizer_state(files, folder).tensors)
      weights_.at(name).copy_(tensor);
  }
  void save(FileSystem& files, const std::string& folder, const Weights& weights) const override {
    write_optimizer_state(files, folder, {.tensors = weights, .updates = 0});
  }

 private:
  Weights weights_;
};

}  // namespace odb
