#include "train/optimizer.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>

#include "base/error.h"

namespace odb {

using torch::Tensor;

Optimizer::Optimizer(const OptimizerOptions& options,
                     const std::map<std::string, Tensor>& parameters)
    : options_(options) {
  groups_ = {Group{.weight_decay = options.weight_decay}, Group{.weight_decay = 0}};
  const bool adamw = options.optimizer == OptimizerKind::adamw;
  for (const auto& [name, parameter] : parameters) {
    Group& group = groups_[parameter.dim() > 1 ? 0 : 1];
    group.names.push_back(name);
    group.parameters.push_back(parameter);
    if (adamw || options.momentum() > 0)
      group.first_moments.push_back(torch::zeros_like(parameter));
    if (adamw) group.second_moments.push_back(torch::zeros_like(parameter));
  }
  std::erase_if(groups_, [](const Group& group) { return group.parameters.empty(); });
}

void Optimizer::step(double learning_rate, double gradient_scale) {
  ODB_CHECK_GT(gradient_scale, 0);
  const torch::NoGradGuard no_grad;
  ++updates_;
  if (groups_.empty()) return;
  // The kernels divide by it while they read the gradients: no pass of its own.
  const Tensor divisor =
      torch::full({}, 1 / gradient_scale, groups_[0].parameters[0].options().dtype(torch::kFloat));
  for (Group& group : groups_)
    update(group, learning_rate, divisor);
}

void Optimizer::update(Group& group, double learning_rate, const Tensor& divisor) {
  std::vector<Tensor> gradients;
  gradients.reserve(group.parameters.size());
  for (const Tensor& parameter : group.parameters)
    gradients.push_back(parameter.grad());
  if (options_.optimizer == OptimizerKind::sgd) {
    const bool first_step = updates_ == 1;
    at::_fused_sgd_(group.parameters, gradients, group.first_moments, group.weight_decay,
                    options_.momentum(), learning_rate, /*dampening=*/0, /*nesterov=*/false,
                    /*maximize=*/false, first_step, divisor);
    return;
  }
  const std::vector<Tensor> steps(
      group.parameters.size(), torch::full({}, static_cast<double>(updates_), divisor.options()));
  at::_fused_adamw_(group.parameters, gradients, group.first_moments, group.second_moments, {},
                    steps, learning_rate, options_.beta1(), options_.beta2(), group.weight_decay,
                    options_.epsilon(), /*amsgrad=*/false,
                    /*maximize=*/false, divisor);
}

std::map<std::string, Tensor> Optimizer::state() const {
  const bool adamw = options_.optimizer == OptimizerKind::adamw;
  std::map<std::string, Tensor> state;
  for (const Group& group : groups_) {
    for (std::size_t i = 0; i < group.first_moments.size(); ++i)
      state[group.names[i] + (adamw ? ".first_moment" : ".momentum")] = group.first_moments[i];
    for (std::size_t i = 0; i < group.second_moments.size(); ++i)
      state[group.names[i] + ".second_moment"] = group.second_moments[i];
  }
  return state;
}

}  // namespace odb
