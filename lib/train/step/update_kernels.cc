#include "train/step/update_kernels.h"

#include <cmath>

#include "base/error.h"

namespace odb {
namespace {

// The numbers of an update as the loops need them, rounded to fp32 once.
struct AdamwFactors {
  explicit AdamwFactors(const AdamwUpdate& update)
      : gradient_scale(static_cast<float>(update.gradient_scale)),
        decay(static_cast<float>(1 - update.learning_rate * update.weight_decay)),
        lerps_from_moment(update.beta1 > 0.5),
        lerp_weight(static_cast<float>(lerps_from_moment ? 1 - update.beta1 : -update.beta1)),
        beta2(static_cast<float>(update.beta2)),
        square_weight(static_cast<float>(1 - update.beta2)),
        step_size(
            static_cast<float>(update.learning_rate / (1 - power(update.beta1, update.update)))),
        root_scale(static_cast<float>(1 / std::sqrt(1 - power(update.beta2, update.update)))),
        epsilon(static_cast<float>(update.epsilon)) {}

  float gradient_scale;
  float decay;
  bool lerps_from_moment;  // as torch.lerp: from the end that gives the smaller rounding error
  float lerp_weight;
  float beta2;
  float square_weight;
  float step_size;
  float root_scale;
  float epsilon;
};

template <bool kLerpsFromMoment>
void adamw_loop(const AdamwFactors factors, std::size_t count, float* __restrict parameters,
                const float* __restrict gradients, float* __restrict first_moments,
                float* __restrict second_moments) {
  for (std::size_t i = 0; i < count; ++i) {
    const float gradient = gradients[i] * factors.gradient_scale;
    const float from = kLerpsFromMoment ? first_moments[i] : gradient;
    const float first = from + factors.lerp_weight * (gradient - first_moments[i]);
    const float second =
        factors.beta2 * second_moments[i] + factors.square_weight * gradient * gradient;
    first_moments[i] = first;
    second_moments[i] = second;
    parameters[i] =
        factors.decay * parameters[i] -
        factors.step_size * first / (std::sqrt(second) * factors.root_scale + factors.epsilon);
  }
}

}  // namespace

double power(double base, std::int64_t exponent) {
  ODB_CHECK_GE(exponent, 0);
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base)
    if (exponent % 2 == 1) result *= base;
  return result;
}

void update_adamw(const AdamwUpdate& update, std::span<float> parameters,
                  std::span<const float> gradients, std::span<float> first_moments,
                  std::span<float> second_moments) {
  ODB_CHECK_EQ(gradients.size(), parameters.size());
  ODB_CHECK_EQ(first_moments.size(), parameters.size());
  ODB_CHECK_EQ(second_moments.size(), parameters.size());
  const AdamwFactors factors(update);
  const auto loop = factors.lerps_from_moment ? adamw_loop<true> : adamw_loop<false>;
  loop(factors, parameters.size(), parameters.data(), gradients.data(), first_moments.data(),
       second_moments.data());
}

void update_sgd(const SgdUpdate& update, std::span<float> parameters,
                std::span<const float> gradients, std::span<float> momenta) {
  ODB_CHECK_EQ(gradients.size(), parameters.size());
  ODB_CHECK_EQ(momenta.size(), update.momentum > 0 ? parameters.size() : 0);
  const auto scale = static_cast<float>(update.gradient_scale);
  const auto decay = static_cast<float>(update.weight_decay);
  const auto momentum = static_cast<float>(update.momentum);
  const auto learning_rate = static_cast<float>(update.learning_rate);
  const std::size_t count = parameters.size();
  float* parameter = parameters.data();
  const float* gradient = gradients.data();
  float* kept = momenta.data();
  if (momenta.empty()) {
    for (std::size_t i = 0; i < count; ++i)
      parameter[i] -= learning_rate * (gradient[i] * scale + decay * parameter[i]);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    kept[i] = momentum * kept[i] + (gradient[i] * scale + decay * parameter[i]);
    parameter[i] -= learning_rate * kept[i];
  }
}

}  // namespace odb
