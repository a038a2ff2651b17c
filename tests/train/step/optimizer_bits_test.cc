// Updates on the CPU: the same bits with any number of threads; beside LibTorch's fused kernels.
#include <map>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>

#include "base/rng.h"
#include "catch.h"
#include "train/step/optimizer.h"

using namespace odb;
using torch::Tensor;

namespace {

constexpr int kUpdates = 8;
constexpr double kLearningRate = 3e-3;
constexpr double kScale = 0.37;
// More than one thread takes at a time, and no multiple of anything.
constexpr std::int64_t kLong = 100003;

Tensor drawn(Rng& rng, std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values)
    value = static_cast<float>(rng.normal());
  return torch::tensor(values).reshape({1, count});
}

// Of one length each, as matrices, starting at the second element of what they lie in.
std::map<std::string, Tensor> parameters_of(Rng& rng) {
  std::map<std::string, Tensor> parameters;
  for (const std::int64_t count : {std::int64_t{1}, std::int64_t{77}, kLong}) {
    const Tensor whole = drawn(rng, count + 1);
    Tensor parameter = whole.narrow(1, 1, count).view({count, 1}).requires_grad_();
    parameter.mutable_grad() = torch::zeros({count + 1}).narrow(0, 1, count).view({count, 1});
    parameters["parameter" + std::to_string(count)] = parameter;
  }
  return parameters;
}

// All parameters and state after some updates.
std::map<std::string, Tensor> trained(const OptimizerOptions& options, int threads) {
  const int before = at::get_num_threads();
  at::set_num_threads(threads);
  Rng rng(1, RandomPurpose::tests);
  std::map<std::string, Tensor> parameters = parameters_of(rng);
  Optimizer optimizer(options, parameters);
  for (int update = 0; update < kUpdates; ++update) {
    for (auto& [name, parameter] : parameters)
      parameter.mutable_grad().copy_(drawn(rng, parameter.numel()).view_as(parameter));
    optimizer.step(kLearningRate, kScale);
  }
  at::set_num_threads(before);
  std::map<std::string, Tensor> all = optimizer.state();
  for (const auto& [name, parameter] : parameters)
    all[name] = parameter.detach();
  return all;
}

// The same by LibTorch.
std::map<std::string, Tensor> trained_by_fused_kernels(const OptimizerOptions& options) {
  const torch::NoGradGuard no_grad;
  const bool adamw = options.optimizer == OptimizerKind::adamw;
  Rng rng(1, RandomPurpose::tests);
  std::map<std::string, Tensor> parameters = parameters_of(rng);
  std::map<std::string, Tensor> all;
  for (const auto& [name, parameter] : parameters) {
    all[name] = parameter.detach();
    if (adamw) {
      all[name + ".first_moment"] = torch::zeros_like(parameter);
      all[name + ".second_moment"] = torch::zeros_like(parameter);
    } else {
      all[name + ".momentum"] = torch::zeros_like(parameter);
    }
  }
  const Tensor divisor = torch::full({}, 1 / kScale, torch::kFloat);
  for (int update = 0; update < kUpdates; ++update)
    for (const auto& [name, parameter] : parameters) {
      const Tensor gradient = drawn(rng, parameter.numel()).view_as(parameter);
      if (adamw)
        at::_fused_adamw_(
            all[name], gradient, all[name + ".first_moment"], all[name + ".second_moment"], {},
            torch::full({}, update + 1.0, torch::kFloat), kLearningRate, options.beta1(),
            options.beta2(), options.weight_decay, options.epsilon(), false, false, divisor);
      else
        at::_fused_sgd_(all[name], gradient, all[name + ".momentum"], options.weight_decay,
                        options.momentum(), kLearningRate, 0, false, false, update == 0, divisor);
    }
  return all;
}

const OptimizerOptions kOptimizers[] = {
    {.weight_decay = 0.1},
    {.adam_beta1 = 0.3, .adam_beta2 = 0.9, .adam_epsilon = 1e-5},
    {.optimizer = OptimizerKind::sgd, .weight_decay = 0.1, .sgd_momentum = 0.9}};

}  // namespace

TEST_CASE("Updates have the same bits with one thread, two and three") {
  for (const OptimizerOptions& options : kOptimizers) {
    const auto one = trained(options, 1);
    CHECK(one.size() >= 6);
    for (const int threads : {2, 3}) {
      INFO(threads << " threads");
      for (const auto& [name, tensor] : trained(options, threads)) {
        INFO(name);
        CHECK(tensor.equal(one.at(name)));
      }
    }
  }
}

TEST_CASE("Updates are those of LibTorch's fused kernels, but for rounding") {
  for (const OptimizerOptions& options : kOptimizers) {
    const auto found = trained(options, 1);
    for (const auto& [name, expected] : trained_by_fused_kernels(options)) {
      INFO(name);
      const Tensor difference = (found.at(name) - expected).abs().max();
      CHECK(difference.item<double>() < 2e-6 * expected.abs().max().item<double>());
    }
  }
}
