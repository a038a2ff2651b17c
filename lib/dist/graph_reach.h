// Which parameters receive gradients in a backward pass from a loss.
#pragma once

#include <vector>

#include <torch/types.h>

namespace odb {

// Of `parameters` (leaves that require gradients), those that `loss` does not depend on, in their
// order. Walks the graph of the loss once; changes nothing.
std::vector<torch::Tensor> unreached_parameters(const torch::Tensor& loss,
                                                const std::vector<torch::Tensor>& parameters);

}  // namespace odb
