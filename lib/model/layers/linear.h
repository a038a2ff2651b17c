// Matrix products of a model: weights are kept in fp32, activations may be bf16, and each product
// is computed in the type of the activations. On x86 processors fp32 products go through oneDNN
// where LibTorch has it: MKL, LibTorch's default, is half as fast on processors that are not
// Intel's.
#pragma once

#include <torch/types.h>

namespace odb {

// Limits oneDNN's kernel cache. A kernel takes up to a megabyte, every number of tokens needs new
// ones, and by default oneDNN keeps 1,024. Call it before the first product.
void limit_onednn_cache();

// a [n, k] times the transpose of b [m, k]: [n, m]. Both of one type; any strides. Not
// differentiable.
torch::Tensor multiply_transposed(const torch::Tensor& a, const torch::Tensor& b);

// A product of the model: weight [out, in] and bias [out], which is undefined where there is none.
struct Linear {
  torch::Tensor weight;
  torch::Tensor bias = {};

  // x [n, in] -> [n, out]. Differentiable; gradients of weight and bias are fp32 (the weight's
  // type).
  torch::Tensor operator()(const torch::Tensor& x) const;
};

}  // namespace odb
