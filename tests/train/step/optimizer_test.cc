// The optimizers compared with LibTorch's own, on the same gradients.
#include "train/step/optimizer.h"

#include <algorithm>
#include <set>

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include "base/rng.h"
#include "catch.h"
#include "faulty_file_system.h"
#include "train/output/optimizer_file.h"
#include "train/step/gradient_norm.h"

using namespace odb;
using torch::Tensor;

namespace {

using Parameters = std::map<std::string, Tensor>;

constexpr int kUpdates = 200;

Tensor drawn(Rng& rng, std::vector<std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    count *= size;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values)
    value = static_cast<float>(rng.normal());
  return torch::tensor(values).reshape(shape);
}

// Two matrices, of which one is long enough for vector kernels and several threads; a norm, a bias.
Parameters some_parameters() {
  Rng rng(1, RandomPurpose::tests);
  Parameters parameters;
  for (const auto& [name, shape] :
       std::map<std::string, std::vector<std::int64_t>>{{"blocks.0.qkv", {13, 7}},
                                                        {"blocks.0.qkv_bias", {13}},
                                                        {"embedding", {300, 70}},
                                                        {"norm", {70}}}) {
    parameters[name] = drawn(rng, shape).requires_grad_();
    parameters[name].mutable_grad() = torch::zeros(shape);
  }
  return parameters;
}

Parameters copies_of(const Parameters& parameters) {
  Parameters copies;
  for (const auto& [name, parameter] : parameters)
    copies[name] = parameter.detach().clone().requires_grad_();
  return copies;
}

// Matrices, then the rest.
template <typename Options>
std::vector<torch::optim::OptimizerParamGroup> groups_of(const Parameters& parameters,
                                                         Options options) {
  std::vector<Tensor> matrices, others;
  for (const auto& [name, parameter] : parameters)
    (parameter.dim() > 1 ? matrices : others).push_back(parameter);
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(matrices, std::make_unique<Options>(options));
  options.weight_decay(0);
  groups.emplace_back(others, std::make_unique<Options>(options));
  return groups;
}

std::unique_ptr<torch::optim::Optimizer> reference_of(const OptimizerOptions& options,
                                                      const Parameters& parameters) {
  if (options.optimizer == OptimizerKind::adamw) {
    torch::optim::AdamWOptions adamw(options.lr);
    adamw.betas({options.beta1(), options.beta2()})
        .eps(options.epsilon())
        .weight_decay(options.weight_decay);
    return std::make_unique<torch::optim::AdamW>(groups_of(parameters, adamw));
  }
  torch::optim::SGDOptions sgd(options.lr);
  sgd.momentum(options.momentum()).weight_decay(options.weight_decay);
  // Options that equal the class's defaults are read from the defaults, which must not decay.
  return std::make_unique<torch::optim::SGD>(groups_of(parameters, sgd),
                                             torch::optim::SGDOptions(options.lr));
}

// The greatest difference relative to the greatest value.
double apart(const Tensor& found, const Tensor& expected) {
  return ((found - expected).abs().max() / expected.abs().max()).item<double>();
}

// Both go through the same gradients, given to ours as sums that are yet to be scaled.
void check_beside_reference(const OptimizerOptions& options) {
  Parameters parameters = some_parameters();
  const Parameters reference = copies_of(parameters);
  std::vector<Tensor> own_gradients, reference_parameters;
  for (const auto& [name, parameter] : parameters)
    own_gradients.push_back(parameter.grad());
  for (const auto& [name, parameter] : reference)
    reference_parameters.push_back(parameter);
  Optimizer optimizer(options, parameters);
  const auto expected = reference_of(options, reference);
  Rng rng(2, RandomPurpose::tests);
  int clipped = 0;
  for (int update = 0; update < kUpdates; ++update) {
    const double scale = 0.01 + rng.uniform();
    const double learning_rate = options.lr * (update < 20 ? update / 20.0 : 1);
    for (auto& [name, parameter] : parameters) {
      // Some long, some short, so that only some are clipped.
      const Tensor gradient = drawn(rng, parameter.sizes().vec()) * (update % 3 == 0 ? 0.001 : 1);
      parameter.mutable_grad().copy_(gradient);
      reference.at(name).mutable_grad() = gradient * scale;
    }
    const double norm = scale * gradient_norm(own_gradients);
    const double factor = clip_factor(norm, options.max_grad_norm);
    clipped += factor < 1 ? 1 : 0;
    optimizer.step(learning_rate, scale * factor);
    if (options.max_grad_norm > 0)
      CHECK(torch::nn::utils::clip_grad_norm_(reference_parameters, options.max_grad_norm) ==
            Approx(norm).epsilon(1e-6));
    for (auto& group : expected->param_groups())
      group.options().set_lr(learning_rate);
    expected->step();
  }
  CHECK(optimizer.updates() == kUpdates);
  CHECK((clipped > 0) == (options.max_grad_norm > 0));
  CHECK(clipped < kUpdates);
  for (const auto& [name, parameter] : parameters) {
    INFO(name);
    CHECK(apart(parameter, reference.at(name)) < 1e-6);
    if (options.optimizer == OptimizerKind::sgd && options.momentum() == 0) continue;
    auto& state = *expected->state().at(reference.at(name).unsafeGetTensorImpl());
    if (options.optimizer == OptimizerKind::adamw) {
      auto& moments = static_cast<torch::optim::AdamWParamState&>(state);
      CHECK(apart(optimizer.state().at(name + ".first_moment"), moments.exp_avg()) < 2e-6);
      CHECK(apart(optimizer.state().at(name + ".second_moment"), moments.exp_avg_sq()) < 2e-6);
    } else {
      auto& momentum = static_cast<torch::optim::SGDParamState&>(state);
      CHECK(apart(optimizer.state().at(name + ".momentum"), momentum.momentum_buffer()) < 2e-6);
    }
  }
}

std::set<std::string> state_names(const OptimizerOptions& options) {
  std::set<std::string> names;
  for (const auto& [name, tensor] : Optimizer(options, some_parameters()).state()) {
    CHECK(tensor.scalar_type() == torch::kFloat);
    CHECK(tensor.abs().max().item<double>() == 0);
    names.insert(name);
  }
  return names;
}

}  // namespace

TEST_CASE("AdamW is LibTorch's: decay of matrices alone, clipped and not") {
  for (const double max_norm : {0.0, 1.0})
    check_beside_reference({.lr = 3e-3, .weight_decay = 0.1, .max_grad_norm = max_norm});
  check_beside_reference({.lr = 1e-3,
                          .adam_beta1 = 0.8,
                          .adam_beta2 = 0.95,
                          .adam_epsilon = 1e-5,
                          .max_grad_norm = 0.3});
}

TEST_CASE("SGD is LibTorch's: with and without momentum and decay, clipped and not") {
  for (const double momentum : {0.0, 0.9})
    for (const double decay : {0.0, 0.05})
      check_beside_reference({.optimizer = OptimizerKind::sgd,
                              .lr = 1e-2,
                              .weight_decay = decay,
                              .sgd_momentum = momentum,
                              .max_grad_norm = decay > 0 ? 1.0 : 0.0});
}

TEST_CASE("Norms and biases do not decay, matrices do") {
  for (const auto kind : {OptimizerKind::adamw, OptimizerKind::sgd}) {
    Parameters parameters = some_parameters();
    const Parameters before = copies_of(parameters);
    Optimizer optimizer({.optimizer = kind, .weight_decay = 0.5}, parameters);
    optimizer.step(0.1, 1);  // gradients of zero
    for (const auto& [name, parameter] : parameters) {
      INFO(name);
      const double factor = parameter.dim() > 1 ? 0.95 : 1;
      CHECK(apart(parameter, before.at(name) * factor) < 1e-6);
    }
  }
}

TEST_CASE("The state of an optimizer has a name for each tensor") {
  CHECK(state_names({}) ==
        std::set<std::string>{"blocks.0.qkv.first_moment", "blocks.0.qkv.second_moment",
                              "blocks.0.qkv_bias.first_moment", "blocks.0.qkv_bias.second_moment",
                              "embedding.first_moment", "embedding.second_moment",
                              "norm.first_moment", "norm.second_moment"});
  CHECK(state_names({.optimizer = OptimizerKind::sgd, .sgd_momentum = 0.5}) ==
        std::set<std::string>{"blocks.0.qkv.momentum", "blocks.0.qkv_bias.momentum",
                              "embedding.momentum", "norm.momentum"});
  CHECK(state_names({.optimizer = OptimizerKind::sgd}).empty());
}

TEST_CASE("The norm of gradients is that of all their values, and shows one that is not finite") {
  Rng rng(3, RandomPurpose::tests);
  std::vector<Tensor> gradients = {drawn(rng, {300, 500}), drawn(rng, {7}), drawn(rng, {1})};
  double squares = 0;
  for (const Tensor& gradient : gradients)
    squares += gradient.to(torch::kDouble).square().sum().item<double>();
  CHECK(gradient_norm(gradients) == Approx(std::sqrt(squares)).epsilon(1e-6));
  CHECK(gradient_norm({}) == 0);
  for (const float broken : {INFINITY, NAN}) {
    gradients[0][299][499] = broken;
    CHECK_FALSE(std::isfinite(gradient_norm(gradients)));
  }
  CHECK(clip_factor(0.5, 1) == 1);
  CHECK(clip_factor(1e9, 0) == 1);
  CHECK(clip_factor(4, 1) == Approx(0.25).epsilon(1e-6));
}

TEST_CASE("An optimizer that goes on from a saved state updates to the same bits") {
  FaultyFileSystem files;
  for (const OptimizerOptions& options :
       {OptimizerOptions{.weight_decay = 0.1},
        OptimizerOptions{.optimizer = OptimizerKind::sgd, .sgd_momentum = 0.9},
        OptimizerOptions{.optimizer = OptimizerKind::sgd}}) {
    Rng rng(7, RandomPurpose::tests);
    Parameters parameters = some_parameters();
    const auto draw_gradients = [&](Parameters& of) {
      for (auto& [name, parameter] : of)
        parameter.mutable_grad() = drawn(rng, parameter.sizes().vec());
    };
    Optimizer first(options, parameters);
    for (int i = 0; i < 3; ++i) {
      draw_gradients(parameters);
      first.step(1e-3, 0.5);
    }
    write_optimizer_state(files, "/optimizer", {first.state(), first.updates()});
    Parameters others = copies_of(parameters);
    Optimizer second(options, others);
    const OptimizerState state = read_optimizer_state(files, "/optimizer");
    second.load(state.tensors, state.updates);
    CHECK(second.updates() == 3);
    draw_gradients(parameters);
    for (auto& [name, parameter] : others)
      parameter.mutable_grad() = parameters[name].grad().clone();
    first.step(1e-3, 0.5);
    second.step(1e-3, 0.5);
    for (const auto& [name, parameter] : parameters)
      CHECK(others[name].equal(parameter));
  }
}

TEST_CASE("A state of another optimizer is refused with the tensor's name") {
  const Parameters parameters = some_parameters();
  Optimizer optimizer(OptimizerOptions{}, parameters);
  auto state = optimizer.state();
  state["norm.first_moment"] = torch::zeros({3});
  CHECK_THROWS_WITH(optimizer.load(state, 1),
                    Catch::Contains("norm.first_moment has the shape [3], expected [70]"));
  state.erase("norm.first_moment");
  CHECK_THROWS_WITH(optimizer.load(state, 1),
                    Catch::Contains("lacks the tensor norm.first_moment"));
  state = optimizer.state();
  state["norm.momentum"] = torch::zeros({70});
  CHECK_THROWS_WITH(optimizer.load(state, 1), Catch::Contains("has a tensor norm.momentum"));
  CHECK(optimizer.updates() == 0);
}
