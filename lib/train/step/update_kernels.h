// One optimizer update of fp32 parameters on the CPU: AdamW and SGD as loops over plain memory.
//
// All ranks must compute the same bits, whatever their processors and numbers of threads. Each
// element is computed by itself in IEEE fp32 arithmetic, so neither the width of vectors nor the
// split into ranges changes a bit. The file is compiled once, for the baseline instruction set and
// without fused multiply-add (CMakeLists.txt): nothing is chosen at run time.
#pragma once

#include <cstdint>
#include <span>

namespace odb {

struct AdamwUpdate {
  double learning_rate = 0;
  double gradient_scale = 1;  // the gradient is this times the values in `gradients`
  double weight_decay = 0;    // decoupled
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  std::int64_t update = 1;  // number of this update, counted from 1
};

struct SgdUpdate {
  double learning_rate = 0;
  double gradient_scale = 1;
  double weight_decay = 0;  // added to the gradient
  double momentum = 0;
};

// In place, of any range of a parameter. All spans have the same length and do not overlap.
void update_adamw(const AdamwUpdate& update, std::span<float> parameters,
                  std::span<const float> gradients, std::span<float> first_moments,
                  std::span<float> second_moments);

// `momenta` is empty where update.momentum is 0; all zero before the first update.
void update_sgd(const SgdUpdate& update, std::span<float> parameters,
                std::span<const float> gradients, std::span<float> momenta);

// base^exponent by squaring, in IEEE multiplications: the same bits on every machine, which
// std::pow does not promise. `exponent` is not negative.
double power(double base, std::int64_t exponent);

}  // namespace odb
