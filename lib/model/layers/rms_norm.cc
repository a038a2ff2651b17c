#include "model/layers/rms_norm.h"

#include <torch/autograd.h>

#include "base/error.h"
#include "model/cpu/cpu_rows.h"

namespace odb {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Normed {
  Tensor sum;  // x itself when nothing was added
  Tensor y;
  Tensor scales;  // [rows]: 1 / rms
};

// `delta` may be undefined: nothing is added.
Normed norm_rows(const Tensor& x, const Tensor& delta, const Tensor& weight, double epsilon) {
  const std::int64_t size = x.size(1);
  const bool adds = delta.defined();
  Normed out{adds ? torch::empty_like(x) : x, torch::empty_like(x),
             torch::empty({x.size(0)}, torch::kFloat)};
  const auto* weights = weight.const_data_ptr<float>();
  auto* scales = out.scales.mutable_data_ptr<float>();
  with_element_type(x, [&]<typename T>(T*) {
    const T* from = x.const_data_ptr<T>();
    const T* added = adds ? delta.const_data_ptr<T>() : nullptr;
    T* sums = adds ? out.sum.mutable_data_ptr<T>() : nullptr;
    T* to = out.y.mutable_data_ptr<T>();
    for_rows(x.size(0), size, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
      std::vector<float> x_row, delta_row, sum_row, y_row;
      for (std::int64_t i = begin; i < end; ++i) {
        const float* values = load_row(from + i * size, x_row, size);
        if (adds) {
          float* sum = output_row(sums + i * size, sum_row, size);
          row::add(values, load_row(added + i * size, delta_row, size), sum, size);
          store_row(sum, sums + i * size, size);
          // The norm reads the sum in its stored type.
          values = load_row(sums + i * size, x_row, size);
        }
        float* y = output_row(to + i * size, y_row, size);
        scales[i] = row::rms_norm(values, weights, y, size, static_cast<float>(epsilon));
        store_row(y, to + i * size, size);
      }
    });
  });
  return out;
}

struct NormGradients {
  Tensor x;
  Tensor weight;
};

// `d_sum` may be undefined: nothing was added, there is no sum.
NormGradients norm_rows_backward(const Tensor& x, const Tensor& weight, const Tensor& scales,
                                 const Tensor& dy, const Tensor& d_sum) {
  const std::int64_t size = x.size(1);
  NormGradients out{torch::empty_like(x), {}};
  const Tensor parts = torch::zeros({row_parts(), size}, torch::kFloat);
  const auto* weights = weight.const_data_ptr<float>();
  const auto* scale = scales.const_data_ptr<float>();
  auto* sums = parts.mutable_data_ptr<float>();
  with_element_type(x, [&]<typename T>(T*) {
    const T* values = x.const_data_ptr<T>();
    const T* gradients = dy.const_data_ptr<T>();
    const T* others = d_sum.defined() ? d_sum.const_data_ptr<T>() : nullptr;
    T* to = out.x.mutable_data_ptr<T>();
    for_rows(x.size(0), size, [&](std::int64_t begin, std::int64_t end, std::int64_t part) {
      std::vector<float> x_row, dy_row, other_row, dx_row;
      for (std::int64_t i = begin; i < end; ++i) {
        float* dx = output_row(to + i * size, dx_row, size);
        row::rms_norm_backward(load_row(values + i * size, x_row, size), weights,
                               load_row(gradients + i * size, dy_row, size), scale[i], dx,
                               sums + part * size, size);
        if (others != nullptr) row::add(dx, load_row(others + i * size, other_row, size), dx, size);
        store_row(dx, to + i * size, size);
      }
    });
  });
  out.weight = parts.sum(0);
  return out;
}

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        double epsilon) {
    const Normed normed = norm_rows(x.contiguous(), {}, weight, epsilon);
    context->save_for_backward({normed.sum, weight, normed.scales});
    return normed.y;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const NormGradients out =
        norm_rows_backward(saved[0], saved[1], saved[2], gradients[0].contiguous(), {});
    return {out.x, out.weight, {}};
  }
};

struct AddRmsNorm : torch::autograd::Function<AddRmsNorm> {
  static variable_list forward(AutogradContext* context, const Tensor& stream, const Tensor& delta,
                               const Tensor& weight, double epsilon) {
    const Normed normed = norm_rows(stream.contiguous(), delta.contiguous(), weight, epsilon);
    context->save_for_backward({normed.sum, weight, normed.scales});
    return {normed.sum, normed.y};
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    // A missing gradient is zeros.
    const NormGradients out = norm_rows_backward(
        saved[0], saved[1], saved[2], gradients[1].contiguous(), gradients[0].contiguous());
    return {out.x, out.x, out.weight, {}};
  }
};

Tensor composed_rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  const Tensor upcast = x.scalar_type() == torch::kDouble ? x : x.to(torch::kFloat);
  const Tensor scale = torch::rsqrt(upcast.square().mean(-1, true) + epsilon);
  return (upcast * scale * weight).to(x.scalar_type());
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, double epsilon) {
  if (!has_row_kernels(x)) return composed_rms_norm(x, weight, epsilon);
  return RmsNorm::apply(x, weight, epsilon);
}

std::pair<Tensor, Tensor> add_rms_norm(const Tensor& stream, const Tensor& delta,
                                       const Tensor& weight, double epsilon) {
  if (!has_row_kernels(stream)) {
    const Tensor sum = stream + delta;
    return {sum, composed_rms_norm(sum, weight, epsilon)};
  }
  const variable_list out = AddRmsNorm::apply(stream, delta, weight, epsilon);
  return {out[0], out[1]};
}

}  // namespace odb
