// One update of a model's parameters on the CPU: the trainer's own loops beside LibTorch's fused
// kernels, with one thread and two.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <benchmark/benchmark.h>
#include <torch/types.h>

#include "train/step/optimizer.h"

namespace {

using namespace odb;
using torch::Tensor;

constexpr double kLearningRate = 1e-5;
constexpr double kDecay = 0.1;
constexpr double kMomentum = 0.9;

// Square matrices, as many as make so many millions of parameters, with gradients.
std::vector<Tensor> matrices(const benchmark::State& state) {
  std::vector<Tensor> made(static_cast<std::size_t>(state.range(0)));
  for (Tensor& matrix : made) {
    matrix = torch::randn({1000, 1000}).requires_grad_();
    matrix.mutable_grad() = torch::randn({1000, 1000});
  }
  return made;
}

void count(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * state.range(0) * 1000000);
}

void own(benchmark::State& state, const OptimizerOptions& options) {
  at::set_num_threads(static_cast<int>(state.range(1)));
  std::map<std::string, Tensor> parameters;
  for (const Tensor& matrix : matrices(state))
    parameters["weight" + std::to_string(parameters.size())] = matrix;
  Optimizer optimizer(options, parameters);
  for (auto _ : state)
    optimizer.step(kLearningRate, 1);
  count(state);
}

void own_adamw(benchmark::State& state) {
  own(state, {.weight_decay = kDecay});
}

void own_sgd(benchmark::State& state) {
  own(state, {.optimizer = OptimizerKind::sgd, .weight_decay = kDecay, .sgd_momentum = kMomentum});
}

struct FusedParts {
  explicit FusedParts(const benchmark::State& state) : parameters(matrices(state)) {
    at::set_num_threads(static_cast<int>(state.range(1)));
    for (Tensor& parameter : parameters) {
      gradients.push_back(parameter.grad());
      parameter = parameter.detach();
      first.push_back(torch::zeros_like(parameter));
      second.push_back(torch::zeros_like(parameter));
    }
  }

  std::vector<Tensor> parameters, gradients, first, second;
  Tensor divisor = torch::ones({});
};

void fused_adamw(benchmark::State& state) {
  FusedParts parts(state);
  double updates = 0;
  for (auto _ : state) {
    const std::vector<Tensor> steps(parts.parameters.size(), torch::full({}, ++updates));
    at::_fused_adamw_(parts.parameters, parts.gradients, parts.first, parts.second, {}, steps,
                      kLearningRate, 0.9, 0.999, kDecay, 1e-8, /*amsgrad=*/false,
                      /*maximize=*/false, parts.divisor);
  }
  count(state);
}

void fused_sgd(benchmark::State& state) {
  FusedParts parts(state);
  bool first_step = true;
  for (auto _ : state) {
    at::_fused_sgd_(parts.parameters, parts.gradients, parts.first, kDecay, kMomentum,
                    kLearningRate, /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false,
                    first_step, parts.divisor);
    first_step = false;
  }
  count(state);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"million_parameters", "threads"})->UseRealTime();
  bench->Unit(benchmark::kMillisecond);
  for (const std::int64_t threads : {1, 2}) {
    bench->Args({3, threads});
    bench->Args({30, threads});
  }
}
BENCHMARK(own_adamw)->Apply(sizes);
BENCHMARK(fused_adamw)->Apply(sizes);
BENCHMARK(own_sgd)->Apply(sizes);
BENCHMARK(fused_sgd)->Apply(sizes);

}  // namespace
