// The length of all gradients together (their global L2 norm), for clipping and to see a run
// diverge.
#pragma once

#include <span>

#include <torch/types.h>

namespace odb {

// Sums of parts are fp64. Not finite when a gradient is not. On a GPU this waits for the gradients.
// The last bits depend on the number of threads, on the processor and on LibTorch: equal gradients
// may give different norms on two ranks, so that all take rank 0's (training_step.h).
double gradient_norm(std::span<const torch::Tensor> gradients);

// What gradients of that norm are multiplied by so that it is at most `most`: 1 if it is already,
// or where `most` is 0 (no clipping). (Pascanu et al., "On the difficulty of training recurrent
// neural networks", 2013, section 3.2; with the 1e-6 that torch.nn.utils.clip_grad_norm_ adds.)
double clip_factor(double norm, double most);

}  // namespace odb
