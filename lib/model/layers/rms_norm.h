// RMSNorm (Zhang and Sennrich, 2019): y = x / sqrt(mean(x^2) + epsilon) * weight, per row, in fp32
// whatever the type of x.
#pragma once

#include <utility>

#include <torch/types.h>

namespace odb {

// x: [rows, size], weight: [size]. The result has x's type. Differentiable by both.
torch::Tensor rms_norm(const torch::Tensor& x, const torch::Tensor& weight, double epsilon);

// {stream + delta, rms_norm(stream + delta)}: the residual sum and its norm in one pass over
// memory, forward and backward.
std::pair<torch::Tensor, torch::Tensor> add_rms_norm(const torch::Tensor& stream,
                                                     const torch::Tensor& delta,
                                                     const torch::Tensor& weight, double epsilon);

}  // namespace odb
