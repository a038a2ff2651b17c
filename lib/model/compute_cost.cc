#include "model/compute_cost.h"

namespace odb {

double quadratic_cost(const ModelConfig& config) {
  const auto hidden = static_cast<double>(config.hidden_size);
  const auto query = static_cast<double>(config.query_width());
  const auto key_value = static_cast<double>(config.key_value_width());
  const auto inner = static_cast<double>(config.intermediate_size);
  const auto layers = static_cast<double>(config.layers);
  const double block = hidden * (2 * query + 2 * key_value) + 3 * hidden * inner;
  const double head = static_cast<double>(config.vocabulary_size) * hidden;
  return layers * query / (layers * block + head / 2);
}

}  // namespace odb
