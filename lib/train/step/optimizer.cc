#include "train/step/optimizer.h"

#include <span>

#include <ATen/TensorIterator.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>

#include "base/error.h"
#include "model/files/safetensors.h"
#include "train/step/update_kernels.h"

namespace odb {

using torch::Tensor;

namespace {

// From this many elements on, another thread is worth its start.
constexpr std::int64_t kGrain = 1 << 15;

// Calls `work(begin, end)` for ranges that make up the elements of a contiguous tensor, on
// LibTorch's threads. at::parallel_for would be serial here: its header uses threads only in code
// that is compiled with OpenMP.
template <typename Work>
void for_ranges(const Tensor& tensor, const Work& work) {
  const Tensor flat = tensor.detach().view({-1});
  auto iterator = at::TensorIterator::borrowing_nullary_op(flat);
  const auto* first = static_cast<const char*>(flat.const_data_ptr());
  const auto range = [&](char** data, const std::int64_t*, std::int64_t count, std::int64_t rows) {
    ODB_CHECK_EQ(rows, 1);
    const auto begin = (data[0] - first) / static_cast<std::int64_t>(flat.element_size());
    work(begin, begin + count);
  };
  iterator.for_each(range, kGrain);
}

std::span<float> values_of(const Tensor& tensor) {
  ODB_CHECK(tensor.is_contiguous(), "a tensor that is not contiguous");
  return {tensor.mutable_data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

}  // namespace

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
  if (groups_[0].parameters[0].is_cpu()) {
    for (Group& group : groups_)
      update_on_cpu(group, learning_rate, gradient_scale);
    return;
  }
  // The kernels divide by it while they read the gradients, which saves a pass.
  const Tensor divisor =
      torch::full({}, 1 / gradient_scale, groups_[0].parameters[0].options().dtype(torch::kFloat));
  for (Group& group : groups_)
    update_on_gpu(group, learning_rate, divisor);
}

void Optimizer::update_on_cpu(Group& group, double learning_rate, double gradient_scale) const {
  const AdamwUpdate adamw{.learning_rate = learning_rate,
                          .gradient_scale = gradient_scale,
                          .weight_decay = group.weight_decay,
                          .beta1 = options_.beta1(),
                          .beta2 = options_.beta2(),
                          .epsilon = options_.epsilon(),
                          .update = updates_};
  const SgdUpdate sgd{.learning_rate = learning_rate,
                      .gradient_scale = gradient_scale,
                      .weight_decay = group.weight_decay,
                      .momentum = options_.momentum()};
  for (std::size_t i = 0; i < group.parameters.size(); ++i) {
    const std::span<float> parameters = values_of(group.parameters[i]);
    const std::span<const float> gradients = values_of(group.parameters[i].grad());
    std::span<float> first, second;
    if (!group.first_moments.empty()) first = values_of(group.first_moments[i]);
    if (!group.second_moments.empty()) second = values_of(group.second_moments[i]);
    const auto update = [&](std::int64_t begin, std::int64_t end) {
      const auto part = [&](auto span) {
        return span.empty() ? span
                            : span.subspan(static_cast<std::size_t>(begin),
                                           static_cast<std::size_t>(end - begin));
      };
      if (options_.optimizer == OptimizerKind::adamw)
        update_adamw(adamw, part(parameters), part(gradients), part(first), part(second));
      else
        update_sgd(sgd, part(parameters), part(gradients), part(first));
    };
    for_ranges(group.parameters[i], update);
  }
}

void Optimizer::update_on_gpu(Group& group, double learning_rate, const Tensor& divisor) const {
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

void Optimizer::load(const std::map<std::string, Tensor>& given, std::int64_t updates) {
  const torch::NoGradGuard no_grad;
  const std::map<std::string, Tensor> own = state();
  for (const auto& [name, tensor] : given)
    if (!own.contains(name))
      throw FileError(
          "the optimizer's state has a tensor {}, which this optimizer has not; resume "
          "with the options of the run that saved it",
          name);
  for (const auto& [name, tensor] : own) {
    const auto found = given.find(name);
    if (found == given.end())
      throw FileError(
          "the optimizer's state lacks the tensor {}; resume with the options of the "
          "run that saved it",
          name);
    if (found->second.sizes() != tensor.sizes())
      throw FileError("the optimizer's state: tensor {} has the shape {}, expected {}", name,
                      shape_text(found->second.sizes().vec()), shape_text(tensor.sizes().vec()));
  }
  for (const auto& [name, tensor] : own)
    Tensor(tensor).copy_(given.at(name));
  updates_ = updates;
}

}  // namespace odb
