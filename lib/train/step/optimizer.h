// The optimizers: AdamW (Loshchilov, Hutter, "Decoupled Weight Decay Regularization", 2019) and SGD
// with momentum. On the CPU by loops that give the same bits on every machine and with any number
// of threads (update_kernels.h), on a GPU by LibTorch's fused kernels.
//
// Weight decay applies only to matrices, not to parameters of one dimension (norms and biases).
// Parameters and state are fp32 whatever type the model computes in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <torch/types.h>

#include "train/step/optimizer_options.h"

namespace odb {

class Optimizer {
 public:
  // `parameters`, by name: contiguous leaves with their gradients in place (gradient_reducer.h).
  Optimizer(const OptimizerOptions& options,
            const std::map<std::string, torch::Tensor>& parameters);

  // One update. The gradient of the step is each parameter's gradient times `gradient_scale`.
  // Afterwards the gradients are invalid until they are zeroed. Equal parameters, state, gradients
  // and arguments give equal bits on all CPUs, and on GPUs of one kind.
  void step(double learning_rate, double gradient_scale);

  // Number of updates so far.
  std::int64_t updates() const { return updates_; }

  // The state that a later run needs, by name: "blocks.0.qkv.first_moment", "...second_moment";
  // "...momentum" (SGD). The tensors themselves, fp32; the next step() changes them.
  std::map<std::string, torch::Tensor> state() const;
  // Goes on from a state that an optimizer with the same options and parameters had after `updates`
  // updates; copies it. FileError naming the tensor: one is missing, left over, or of another
  // shape.
  void load(const std::map<std::string, torch::Tensor>& state, std::int64_t updates);

 private:
  // Parameters with the same weight decay.
  struct Group {
    double weight_decay = 0;
    std::vector<std::string> names;
    std::vector<torch::Tensor> parameters, first_moments, second_moments;
  };

  void update_on_cpu(Group& group, double learning_rate, double gradient_scale) const;
  void update_on_gpu(Group& group, double learning_rate, const torch::Tensor& divisor) const;

  OptimizerOptions options_;
  std::vector<Group> groups_;
  std::int64_t updates_ = 0;
};

}  // namespace odb
