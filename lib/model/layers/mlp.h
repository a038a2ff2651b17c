// The feed-forward half of a block: SwiGLU (Shazeer, "GLU Variants Improve Transformer", 2020).
#pragma once

#include <torch/types.h>

namespace odb {

// gate_up: [tokens, 2 * inner], gates first. Returns silu(gate) * up, [tokens, inner];
// differentiable.
torch::Tensor swiglu(const torch::Tensor& gate_up);

}  // namespace odb
