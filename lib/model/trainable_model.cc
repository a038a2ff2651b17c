#include "model/trainable_model.h"

#include "model/language_model.h"

namespace odb {

Weights trainable_weights(const TrainableModel& model) {
  Weights trained;
  for (const auto& [name, weight] : model.weights())
    if (model.is_trainable(name)) trained.emplace(name, weight);
  return trained;
}

std::vector<torch::Tensor> trainable_tensors(const TrainableModel& model) {
  std::vector<torch::Tensor> tensors;
  for (const std::string& name : model.weight_order())
    if (model.is_trainable(name)) tensors.push_back(model.weights().at(name));
  return tensors;
}

std::vector<torch::Tensor> all_tensors(const TrainableModel& model) {
  std::vector<torch::Tensor> tensors;
  for (const std::string& name : model.weight_order())
    tensors.push_back(model.weights().at(name));
  return tensors;
}

std::unique_ptr<TrainableModel> make_model(const ModelConfig& config, const ModelOptions& options,
                                           torch::Device device) {
  return std::make_unique<LanguageModel>(
      config, ComputeOptions{.dtype = options.dtype, .recompute = options.recompute}, device);
}

}  // namespace odb
