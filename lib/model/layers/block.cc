#include "model/layers/block.h"

#include <memory>

#include <torch/autograd.h>

#include "base/error.h"
#include "model/layers/attention.h"
#include "model/layers/mlp.h"
#include "model/layers/rms_norm.h"

namespace odb {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What a recomputation needs beside tensors; lives until backward.
struct Recomputation : torch::CustomClassHolder {
  BlockParameters parameters;
  BatchShape batch;
  ModelConfig config;
  bool has_delta = false;
};

struct RecomputedBlock : torch::autograd::Function<RecomputedBlock> {
  // `inputs`: stream, delta if there is one, then the block's parameters, which are inputs so that
  // autograd receives their gradients.
  static variable_list forward(AutogradContext* context, at::TensorList inputs,
                               const c10::intrusive_ptr<Recomputation>& work) {
    const Residual input{inputs[0], work->has_delta ? inputs[1] : Tensor()};
    context->save_for_backward({input.stream, input.delta});
    context->saved_data["work"] = c10::IValue::make_capsule(work);
    const Residual out = run_block(input, work->parameters, work->batch, work->config);
    return {out.stream, out.delta};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["work"].toCapsule();
    const auto& work = static_cast<const Recomputation&>(*capsule);
    const variable_list saved = context->get_saved_variables();
    Residual input{saved[0].detach().requires_grad_(), {}};
    variable_list inputs = {input.stream};
    if (work.has_delta) {
      input.delta = saved[1].detach().requires_grad_();
      inputs.push_back(input.delta);
    }
    // New leaves that share memory with the parameters: the inner backward ends at them.
    BlockParameters parameters = work.parameters;
    for (Tensor* parameter : parameters.defined()) {
      *parameter = parameter->detach().requires_grad_();
      inputs.push_back(*parameter);
    }
    const torch::AutoGradMode with_gradients(true);
    const Residual out = run_block(input, parameters, work.batch, work.config);
    // Missing gradients arrive as zeros: both are defined.
    variable_list result = torch::autograd::grad({out.stream, out.delta}, inputs, gradients);
    result.emplace_back();  // for `work`
    return result;
  }
};

}  // namespace

NormedResidual add_and_norm(const Residual& residual, const Tensor& weight, double epsilon) {
  if (!residual.delta.defined())
    return {residual.stream, rms_norm(residual.stream, weight, epsilon)};
  const auto [sum, normed] = add_rms_norm(residual.stream, residual.delta, weight, epsilon);
  return {sum, normed};
}

BlockParameters BlockParameters::from(const std::map<std::string, Tensor>& parameters,
                                      const std::string& prefix) {
  const auto find = [&](const std::string& name) {
    const auto found = parameters.find(prefix + name);
    return found == parameters.end() ? Tensor() : found->second;
  };
  const auto linear = [&](const std::string& name) {
    return Linear{find(name), find(name + "_bias")};
  };
  return {.attention_norm = find("attention_norm"),
          .qkv = linear("qkv"),
          .query_norm = find("query_norm"),
          .key_norm = find("key_norm"),
          .attention_out = linear("attention_out"),
          .mlp_norm = find("mlp_norm"),
          .gate_up = linear("gate_up"),
          .down = linear("down")};
}

std::vector<Tensor*> BlockParameters::defined() {
  std::vector<Tensor*> all = {&attention_norm,     &qkv.weight,  &qkv.bias,
                              &query_norm,         &key_norm,    &attention_out.weight,
                              &attention_out.bias, &mlp_norm,    &gate_up.weight,
                              &gate_up.bias,       &down.weight, &down.bias};
  std::erase_if(all, [](const Tensor* parameter) { return !parameter->defined(); });
  return all;
}

Residual run_block(const Residual& input, const BlockParameters& parameters,
                   const BatchShape& batch, const ModelConfig& config) {
  const NormedResidual before = add_and_norm(input, parameters.attention_norm, config.norm_epsilon);
  const Tensor qkv = parameters.qkv(before.normed);
  const AttentionInputs heads =
      rotate_heads(qkv, parameters.query_norm, parameters.key_norm, batch.tables, config);
  const Tensor attended = parameters.attention_out(attend(heads, batch.rows));
  const NormedResidual between =
      add_and_norm({before.stream, attended}, parameters.mlp_norm, config.norm_epsilon);
  const Tensor gate_up = parameters.gate_up(between.normed);
  return {between.stream, parameters.down(swiglu(gate_up))};
}

Residual run_block_recomputed(const Residual& input, const BlockParameters& parameters,
                              const BatchShape& batch, const ModelConfig& config) {
  if (!torch::GradMode::is_enabled()) return run_block(input, parameters, batch, config);
  auto work = c10::make_intrusive<Recomputation>();
  work->parameters = parameters;
  work->batch = batch;
  work->config = config;
  work->has_delta = input.delta.defined();
  std::vector<Tensor> inputs = {input.stream};
  if (work->has_delta) inputs.push_back(input.delta);
  for (Tensor* parameter : work->parameters.defined())
    inputs.push_back(*parameter);
  const variable_list out = RecomputedBlock::apply(at::TensorList(inputs), work);
  return {out[0], out[1]};
}

}  // namespace odb
