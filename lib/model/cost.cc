#include "model/cost.h"

#include <algorithm>

#include "model/files/weight_names.h"
#include "model/layers/loss_chunk.h"

namespace odb {
namespace {

// Counted in fp64: exact below 2^53, and nothing overflows.
struct Sizes {
  double tokens, layers, vocabulary, hidden, inner;
  double queries, heads;  // values of a token's queries; of its queries, keys and values
  double scales;          // fp32 values of a token: factors of norms, sums of attention
  double element;         // bytes of an activation
  bool is_bf16;

  Sizes(const ModelConfig& config, const ModelOptions& options, std::int64_t of)
      : tokens(static_cast<double>(of)),
        layers(static_cast<double>(config.layers)),
        vocabulary(static_cast<double>(config.vocabulary_size)),
        hidden(static_cast<double>(config.hidden_size)),
        inner(static_cast<double>(config.intermediate_size)),
        queries(static_cast<double>(config.query_width())),
        heads(static_cast<double>(config.query_width() + 2 * config.key_value_width())),
        scales(static_cast<double>(2 + 2 * config.heads + config.key_value_heads)),
        element(options.dtype == ComputeType::bf16 ? 2 : 4),
        is_bf16(options.dtype == ComputeType::bf16) {}
};

std::int64_t bytes(double count) {
  constexpr double kMax = static_cast<double>(std::int64_t{1} << 59);
  return static_cast<std::int64_t>(std::min(count, kMax));
}

// What a block keeps: two sums and two norms of the stream, the fused projection, gates and ups,
// and their product; attention keeps its inputs and its output in fp32 (attention.cc), in a bf16
// model in addition to the bf16 ones.
double block_kept(const Sizes& size) {
  const double own = 4 * size.hidden + size.heads + 3 * size.inner;
  const double attention = size.heads + size.queries;
  return size.tokens *
         (size.element * (own + (size.is_bf16 ? size.queries : 0)) + 4 * (attention + size.scales));
}

// In use at once within a block's backward: gradients of the stream and of its widest tensors.
double block_working(const Sizes& size) {
  const double attention = 2 * size.heads + size.queries;
  return size.tokens * size.element * (3 * size.hidden + std::max(attention, 3 * size.inner));
}

// A chunk of logits, its bf16 copy, the head's gradient, and the copies of the head that products
// make: in bf16, and transposed.
double loss_working(const Sizes& size) {
  const auto positions =
      static_cast<double>(loss_chunk_positions(static_cast<std::int64_t>(size.vocabulary)));
  const double chunk = 4 * size.vocabulary * std::min(positions, size.tokens);
  const double head = size.vocabulary * size.hidden;
  return chunk * (size.is_bf16 ? 1.5 : 1) + head * (4 + (size.is_bf16 ? 2 : 0) + size.element);
}

double block_matrix_values(const ModelConfig& config) {
  double values = 0;
  for (const ParameterShape& parameter : parameter_shapes(config))
    if (parameter.shape.size() == 2 && parameter.name.starts_with("blocks."))
      values += static_cast<double>(parameter.shape[0]) * static_cast<double>(parameter.shape[1]);
  return values;
}

// Measured: a process with LibTorch, the kernels that oneDNN keeps (linear.h limits their number),
// and the excess of kept blocks over the tensors in them (caching_allocator.h).
double process_bytes(double passing) {
  constexpr double kLibTorch = 140e6;
  constexpr double kKernels = 100e6;
  return kLibTorch + kKernels + 3 * passing / 20;
}

}  // namespace

MemoryEstimate estimate_memory(const ModelConfig& config, const ModelOptions& options,
                               std::int64_t tokens) {
  const Sizes size(config, options, tokens);
  const bool again = options.recompute == Recompute::block;
  const auto parameters = static_cast<double>(parameter_count(config));
  // The last states, their norm, those that are supervised, and the gradient of these.
  const double states = 4 * size.hidden * size.element * size.tokens;
  const double stream = 2 * size.hidden * size.element * size.tokens;
  const double kept = states + size.layers * (again ? stream : block_kept(size));
  // A tied head's gradient waits for the embedding's.
  const double in_block = block_working(size) + (again ? block_kept(size) : 0) +
                          (config.tied_embeddings ? 4 * size.vocabulary * size.hidden : 0);
  const double working = std::max(loss_working(size), in_block);
  return {.weights = bytes(4 * parameters),
          .gradients = bytes(4 * parameters),
          .optimizer = bytes(8 * parameters),
          .copies = size.is_bf16 ? bytes(2 * block_matrix_values(config)) : 0,
          .activations = bytes(kept),
          .working = bytes(working),
          .process = bytes(process_bytes(kept + working))};
}

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
