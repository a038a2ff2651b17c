#include "model/init.h"

#include <algorithm>

#include <ATen/Parallel.h>

#include "base/rng.h"
#include "model/files/weight_names.h"
#include "model/language_model.h"

namespace odb {
namespace {

constexpr std::int64_t kStretch = 65536;

void fill_normal(torch::Tensor& values, double deviation, std::uint64_t seed,
                 std::uint64_t number) {
  auto* to = values.mutable_data_ptr<float>();
  const std::int64_t count = values.numel();
  const std::int64_t stretches = (count + kStretch - 1) / kStretch;
  at::parallel_for(0, stretches, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t stretch = first; stretch < last; ++stretch) {
      Rng rng(seed, RandomPurpose::initial_weights, number, static_cast<std::uint64_t>(stretch));
      const std::int64_t end = std::min(count, (stretch + 1) * kStretch);
      for (std::int64_t i = stretch * kStretch; i < end; ++i)
        to[i] = static_cast<float>(rng.normal() * deviation);
    }
  });
}

}  // namespace

void initialize_weights(LanguageModel& model, std::uint64_t seed) {
  const torch::NoGradGuard no_gradients;
  std::uint64_t number = 0;
  for (const PublishedWeight& weight : published_weights(model.config())) {
    torch::Tensor rows =
        model.weights().at(weight.parameter).narrow(0, weight.first_row, weight.shape.front());
    const bool is_matrix = weight.shape.size() == 2;
    if (is_matrix) {
      torch::Tensor values = torch::empty(weight.shape, torch::kFloat);
      fill_normal(values, model.config().initializer_range, seed, number);
      rows.copy_(values);
    } else {
      rows.fill_(weight.name.ends_with(".bias") ? 0 : 1);
    }
    ++number;
  }
}

}  // namespace odb
