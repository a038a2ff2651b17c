// Trainers as threads of the test's process, over a real store and real groups; a small net that
// they train, and the same in one process, for comparison.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/nn/functional.h>
#include <torch/nn/module.h>
#include <torch/types.h>

#include "base/rng.h"
#include "dist/gradient_reducer.h"
#include "dist/training_groups.h"
#include "on_ranks.h"

namespace odb {

inline void require(bool condition, const std::string& what) {
  if (!condition) throw std::logic_error(what);
}

// Runs `body(groups)` on `world` ranks over a store of their own; all leave together.
// Element r of the result: what rank r threw.
inline std::vector<std::string> on_training_ranks(int world,
                                                  const std::function<void(TrainingGroups&)>& body,
                                                  torch::DeviceType device = torch::kCPU) {
  const Store store = Store::host({"127.0.0.1", 0});
  return on_ranks(world, [&](int rank) {
    const auto index = static_cast<torch::DeviceIndex>(rank);
    TrainingGroups groups(store, {.prefix = "run/",
                                  .rank = rank,
                                  .world = world,
                                  .device = device == torch::kCPU ? torch::Device(device)
                                                                  : torch::Device(device, index)});
    body(groups);
    groups.control()->barrier()->wait();
  });
}

// Two layers and a side branch that a forward pass may leave out. In double precision; each weight
// is a function of its place.
struct SmallNet : torch::nn::Module {
  explicit SmallNet(torch::Device device) {
    const auto weight = [&](const char* name, std::vector<std::int64_t> shape, double phase) {
      const torch::Tensor values = torch::arange(shape[0] * shape[1], torch::kDouble);
      return register_parameter(name, (values * 0.7 + phase).sin().reshape(shape).to(device));
    };
    first = weight("first", {7, 5}, 0.1);
    side = weight("side", {3, 5}, 0.2);
    second = weight("second", {3, 7}, 0.3);
  }

  // `inputs` [rows, 5]; a sum over the rows.
  torch::Tensor loss(const torch::Tensor& inputs, bool with_side) const {
    torch::Tensor out = torch::nn::functional::linear(
        torch::tanh(torch::nn::functional::linear(inputs, first)), second);
    if (with_side) out = out + torch::nn::functional::linear(inputs, side);
    return out.square().sum();
  }

  torch::Tensor first, side, second;
};

// What one rank does in one micro-step.
struct MicroStep {
  std::int64_t rows = 0;  // 0: idle
  bool with_side = true;
  std::uint64_t seed = 0;
};

// plan[step][micro-step][rank].
using StepPlan = std::vector<std::vector<std::vector<MicroStep>>>;

inline torch::Tensor inputs_of(const MicroStep& micro_step, torch::Device device) {
  Rng rng(micro_step.seed, RandomPurpose::tests);
  std::vector<double> values(static_cast<std::size_t>(micro_step.rows * 5));
  for (double& value : values)
    value = rng.normal();
  return torch::tensor(values, torch::kDouble).reshape({micro_step.rows, 5}).to(device);
}

// Steps of one to three micro-steps; a third of all slots are idle, of rank `always_idle` all.
inline StepPlan random_plan(std::uint64_t seed, int world, int steps, int always_idle = -1) {
  Rng rng(seed, RandomPurpose::tests);
  StepPlan plan(static_cast<std::size_t>(steps));
  for (auto& step : plan) {
    step.resize(1 + rng.below(3));
    for (auto& micro_step : step)
      for (int rank = 0; rank < world; ++rank) {
        const bool idle = rank == always_idle || rng.below(3) == 0;
        micro_step.push_back({.rows = idle ? 0 : 1 + static_cast<std::int64_t>(rng.below(4)),
                              .with_side = rng.below(3) != 0,
                              .seed = rng.bits64()});
      }
  }
  return plan;
}

inline std::vector<torch::Tensor> copies_of_gradients(const SmallNet& net) {
  std::vector<torch::Tensor> copies;
  for (const torch::Tensor& parameter : net.parameters())
    copies.push_back(parameter.grad().detach().cpu().clone());
  return copies;
}

// The gradients of each step, in one process: sums over ranks and micro-steps, over the world.
inline std::vector<std::vector<torch::Tensor>> reference_gradients(const StepPlan& plan) {
  std::vector<std::vector<torch::Tensor>> gradients;
  SmallNet net(torch::kCPU);
  for (const auto& step : plan) {
    for (const torch::Tensor& parameter : net.parameters())
      parameter.mutable_grad() = torch::zeros_like(parameter);
    const auto world = static_cast<double>(step.front().size());
    for (const auto& micro_step : step)
      for (const MicroStep& one : micro_step)
        if (one.rows > 0) (net.loss(inputs_of(one, torch::kCPU), one.with_side) / world).backward();
    gradients.push_back(copies_of_gradients(net));
  }
  return gradients;
}

// The same on one of several ranks; steps from `begin` on.
inline std::vector<std::vector<torch::Tensor>> rank_gradients(TrainingGroups& groups,
                                                              const StepPlan& plan,
                                                              std::size_t begin = 0,
                                                              std::int64_t bucket_bytes = 300) {
  SmallNet net(groups.device());
  GradientReducer reducer(groups, net.parameters(), bucket_bytes);
  std::vector<std::vector<torch::Tensor>> gradients;
  for (std::size_t step = begin; step < plan.size(); ++step) {
    reducer.zero_gradients();
    for (std::size_t i = 0; i < plan[step].size(); ++i) {
      const MicroStep& one = plan[step][i][static_cast<std::size_t>(groups.rank())];
      const bool last = i + 1 == plan[step].size();
      if (one.rows == 0) {
        if (last) reducer.reduce_without_data();
        continue;
      }
      const torch::Tensor loss = net.loss(inputs_of(one, groups.device()), one.with_side);
      if (last) reducer.prepare(loss);
      loss.backward();
    }
    gradients.push_back(copies_of_gradients(net));
  }
  return gradients;
}

}  // namespace odb
