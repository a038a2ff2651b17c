#include "model/layers/mlp.h"

#include <torch/autograd.h>

#include "model/cpu/cpu_rows.h"

namespace odb {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct SwiGlu : torch::autograd::Function<SwiGlu> {
  static Tensor forward(AutogradContext* context, const Tensor& gate_up) {
    const Tensor x = gate_up.contiguous();
    const std::int64_t inner = x.size(1) / 2;
    const Tensor y = torch::empty({x.size(0), inner}, x.options());
    with_element_type(x, [&]<typename T>(T*) {
      const T* from = x.const_data_ptr<T>();
      T* to = y.mutable_data_ptr<T>();
      for_rows(x.size(0), 2 * inner, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
        std::vector<float> x_row, y_row;
        for (std::int64_t i = begin; i < end; ++i) {
          const float* gate = load_row(from + i * 2 * inner, x_row, 2 * inner);
          float* out = output_row(to + i * inner, y_row, inner);
          row::swiglu(gate, gate + inner, out, inner);
          store_row(out, to + i * inner, inner);
        }
      });
    });
    context->save_for_backward({x});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const Tensor x = context->get_saved_variables()[0];
    const Tensor dy = gradients[0].contiguous();
    const Tensor dx = torch::empty_like(x);
    const std::int64_t inner = x.size(1) / 2;
    with_element_type(x, [&]<typename T>(T*) {
      const T* from = x.const_data_ptr<T>();
      const T* back = dy.const_data_ptr<T>();
      T* to = dx.mutable_data_ptr<T>();
      for_rows(x.size(0), 2 * inner, [&](std::int64_t begin, std::int64_t end, std::int64_t) {
        std::vector<float> x_row, dy_row, dx_row;
        for (std::int64_t i = begin; i < end; ++i) {
          const float* gate = load_row(from + i * 2 * inner, x_row, 2 * inner);
          float* out = output_row(to + i * 2 * inner, dx_row, 2 * inner);
          row::swiglu_backward(gate, gate + inner, load_row(back + i * inner, dy_row, inner), out,
                               out + inner, inner);
          store_row(out, to + i * 2 * inner, 2 * inner);
        }
      });
    });
    return {dx};
  }
};

}  // namespace

Tensor swiglu(const Tensor& gate_up) {
  if (has_row_kernels(gate_up)) return SwiGlu::apply(gate_up);
  const std::vector<Tensor> halves = gate_up.chunk(2, 1);
  return torch::silu(halves[0]) * halves[1];
}

}  // namespace odb
