#include "model/layers/linear.h"

#include <cstdlib>
#include <optional>
#include <string_view>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/autograd.h>

namespace odb {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

using OneDnnLinear = Tensor(const Tensor&, const Tensor&, const std::optional<Tensor>&,
                            c10::string_view, c10::List<std::optional<at::Scalar>>,
                            std::optional<c10::string_view>);

// The operator with which LibTorch's own compiler calls oneDNN for dense fp32; none in builds
// without it.
std::optional<c10::TypedOperatorHandle<OneDnnLinear>> find_one_dnn_linear() {
#ifdef __x86_64__
  const auto found = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
  if (found && found->hasKernelForDispatchKey(c10::DispatchKey::CPU))
    return found->typed<OneDnnLinear>();
#endif
  return std::nullopt;
}

}  // namespace

void limit_onednn_cache() {
  ::setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128", /*overwrite=*/0);
}

Tensor multiply_transposed(const Tensor& a, const Tensor& b) {
  static const auto one_dnn = find_one_dnn_linear();
  const bool suits = one_dnn && a.device().is_cpu() && a.scalar_type() == torch::kFloat &&
                     a.numel() > 0 && b.numel() > 0;
  if (suits) {
    const c10::List<std::optional<at::Scalar>> no_scalars;
    return one_dnn->call(a, b, std::nullopt, "none", no_scalars, std::nullopt);
  }
  return torch::mm(a, b.t());
}

namespace {

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const std::optional<Tensor>& bias) {
    const Tensor cast_weight = weight.to(x.scalar_type());
    context->save_for_backward({x, cast_weight});
    context->saved_data["has_bias"] = bias.has_value();
    context->saved_data["type"] = weight.scalar_type();
    Tensor y = multiply_transposed(x, cast_weight);
    if (bias) y += bias->to(x.scalar_type());
    return y;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dy = gradients[0].contiguous();
    const auto type = context->saved_data["type"].toScalarType();
    Tensor dx, d_weight, d_bias;
    if (context->needs_input_grad(0)) dx = multiply_transposed(dy, saved[1].t());
    if (context->needs_input_grad(1)) d_weight = multiply_transposed(dy.t(), saved[0].t()).to(type);
    if (context->saved_data["has_bias"].toBool()) d_bias = dy.sum(0, false, type);
    return {dx, d_weight, d_bias};
  }
};

}  // namespace

Tensor Linear::operator()(const Tensor& x) const {
  return LinearFunction::apply(x, weight, bias.defined() ? std::optional(bias) : std::nullopt);
}

}  // namespace odb
