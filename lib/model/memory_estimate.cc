#include "model/memory_estimate.h"

#include <algorithm>

#include "model/loss_chunk.h"
#include "model/weight_names.h"

namespace odb {
namespace {

// Values that a block keeps for each token: normed inputs and sums twice, the fused projection, its
// rotated heads, what attention gives, gates and ups, and their product.
std::int64_t kept_per_token(const ModelConfig& config) {
  const std::int64_t heads = config.query_width() + 2 * config.key_value_width();
  return 4 * config.hidden_size + 2 * heads + 2 * config.query_width() +
         3 * config.intermediate_size;
}

// Values in use at once while a block's backward runs, beside what it kept: gradients of its two
// widest tensors and of the stream.
std::int64_t working_per_token(const ModelConfig& config) {
  const std::int64_t heads = config.query_width() + 2 * config.key_value_width();
  return 3 * config.hidden_size + std::max(2 * heads, 3 * config.intermediate_size);
}

std::int64_t matrix_values(const ModelConfig& config) {
  std::int64_t values = 0;
  for (const ParameterShape& parameter : parameter_shapes(config))
    if (parameter.shape.size() == 2) values += parameter.shape[0] * parameter.shape[1];
  // The embedding is looked up in fp32; tied, it is copied as the head.
  return config.tied_embeddings ? values : values - config.vocabulary_size * config.hidden_size;
}

}  // namespace

MemoryEstimate estimate_memory(const ModelConfig& config, const ModelOptions& options,
                               std::int64_t tokens) {
  const std::int64_t parameters = parameter_count(config);
  const bool narrow = options.dtype == ComputeType::bf16;
  const std::int64_t bytes = narrow ? 2 : 4;
  MemoryEstimate estimate{
      .weights = 4 * parameters, .gradients = 4 * parameters, .optimizer = 8 * parameters};
  if (narrow) estimate.copies = 2 * matrix_values(config);
  const std::int64_t block = kept_per_token(config) * bytes * tokens;
  const std::int64_t stream = 2 * config.hidden_size * bytes * tokens;
  estimate.activations = working_per_token(config) * bytes * tokens +
                         (options.recompute == Recompute::block ? block + config.layers * stream
                                                                : config.layers * block);
  const std::int64_t chunk = std::max(kLossChunkBytes, 4 * config.vocabulary_size);
  estimate.loss = std::min(chunk, 4 * config.vocabulary_size * tokens);
  if (narrow) estimate.loss += estimate.loss / 2;
  if (config.tied_embeddings) estimate.loss += 4 * config.vocabulary_size * config.hidden_size;
  return estimate;
}

}  // namespace odb
