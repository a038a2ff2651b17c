// Matrix products of a model: weights are kept in fp32, activations may be bf16, and each product
// is computed in the type of the activations. On x86 processors fp32 products go through oneDNN
// where LibTorch brings it: MKL, LibTorch's own choice, is half as fast on processors of other
// makers.
#pragma once

#include <torch/types.h>

namespace odb {

// Bounds the kernels that oneDNN keeps, of up to a megabyte each: it makes new ones for every
// number of tokens, and by default keeps 1,024. To be called before the first product.
void limit_kept_kernels();

// a [n, k] times the transpose of b [m, k]: [n, m]. Both of one type; strides may be anything. Not
// differentiable.
torch::Tensor times_transposed(const torch::Tensor& a, const torch::Tensor& b);

// x [n, in] times the transpose of weight [out, in], plus bias [out] unless it is undefined.
// Differentiable; gradients of weight and bias are fp32 (the weight's type).
torch::Tensor apply_linear(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias = {});

}  // namespace odb
