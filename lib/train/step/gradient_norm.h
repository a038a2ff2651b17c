// The global L2 norm of all gradients, for clipping and to detect that a run diverges.
#pragma once

#include <span>

#include <torch/types.h>

namespace odb {

// Sums of parts are fp64. Not finite when a gradient is not. On a GPU this waits for the gradients.
// The last bits depend on the number of threads, on the processor and on LibTorch: equal gradients
// may give different norms on two ranks, so that all take rank 0's (training_step.h).
double gradient_norm(std::span<const torch::Tensor> gradients);

// The factor that scales gradients of that norm to at most `most`: 1 if the norm is that small
// already, or if `most` is 0 (no clipping). (Pascanu et al., "On the difficulty of training
// recurrent neural networks", 2013, section 3.2; with the 1e-6 that torch.nn.utils.clip_grad_norm_
// adds.)
double clip_factor(double norm, double most);

}  // namespace odb
