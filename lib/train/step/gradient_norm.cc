#include "train/step/gradient_norm.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace odb {
namespace {

// Products of a stretch in the tensor's own type are exact enough; stretches are added in fp64.
double squares(const torch::Tensor& gradient) {
  constexpr std::int64_t kStretch = 1 << 16;
  const torch::Tensor flat = gradient.reshape({-1});
  double sum = 0;
  for (std::int64_t begin = 0; begin < flat.numel(); begin += kStretch) {
    const torch::Tensor part = flat.narrow(0, begin, std::min(kStretch, flat.numel() - begin));
    sum += torch::dot(part, part).item<double>();
  }
  return sum;
}

}  // namespace

double gradient_norm(std::span<const torch::Tensor> gradients) {
  const torch::NoGradGuard no_grad;
  if (gradients.empty()) return 0;
  if (gradients.front().device().is_cpu()) {
    double sum = 0;
    for (const torch::Tensor& gradient : gradients)
      sum += squares(gradient);
    return std::sqrt(sum);
  }
  std::vector<torch::Tensor> norms;
  norms.reserve(gradients.size());
  for (const torch::Tensor& gradient : gradients)
    norms.push_back(torch::linalg_vector_norm(gradient, 2, std::nullopt, false, torch::kDouble));
  return torch::stack(norms).norm().item<double>();
}

double clip_factor(double norm, double most) {
  return most > 0 ? std::min(1.0, most / (norm + 1e-6)) : 1;
}

}  // namespace odb
