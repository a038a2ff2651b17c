#include "model/cpu/attention_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "model/cpu/attention_tiles.h"

namespace odb::attention {

#if ODB_WITH_VECTORS

namespace {

// Of a block. 64 keys of 128 values are 32 KiB, the first cache; 96 rows are 16 tiles of 6, enough
// queries to read each block of keys seldom.
constexpr std::int64_t kKeys = 64;
constexpr std::int64_t kMaxRows = 96;  // query tokens x query heads of a key head

// One key head of a row, and how it is cut into blocks.
struct Head {
  const Shape& shape;
  std::int64_t number;  // the key head
  std::int64_t group;   // query heads that share it
  std::int64_t size;    // of a head
  std::int64_t tokens;  // query tokens of a block
  std::int64_t padded;  // keys, rounded up to whole blocks

  Head(const Shape& of, std::int64_t key_value_head)
      : shape(of),
        number(key_value_head),
        group(of.heads / of.key_value_heads),
        size(of.head_size),
        tokens(std::max<std::int64_t>(1, kMaxRows / group)),
        padded((of.length + kKeys - 1) / kKeys * kKeys) {}

  std::int64_t rows() const { return tokens * group; }
  std::int64_t query(std::int64_t token) const {  // where the group's first query lies
    return (token * shape.heads + number * group) * size;
  }
  std::int64_t key(std::int64_t token) const {
    return (token * shape.key_value_heads + number) * size;
  }
  std::int64_t log_sum(std::int64_t token) const { return token * shape.heads + number * group; }
};

// Blocks of keys, transposed: [block][size][kKeys]; zeros after the last key.
ODB_INLINE void transpose_keys(const Head& head, const float* from, float* to) {
  std::memset(to, 0, static_cast<std::size_t>(head.padded * head.size) * sizeof(float));
  for (std::int64_t token = 0; token < head.shape.length; ++token) {
    const float* key = from + head.key(token);
    float* column = to + token / kKeys * (kKeys * head.size) + token % kKeys;
    for (std::int64_t i = 0; i < head.size; ++i)
      column[i * kKeys] = key[i];
  }
}

// [padded][size], zeros after the last.
ODB_INLINE void gather_keys(const Head& head, const float* from, float* to) {
  const auto bytes = static_cast<std::size_t>(head.size) * sizeof(float);
  for (std::int64_t token = 0; token < head.shape.length; ++token)
    std::memcpy(to + token * head.size, from + head.key(token), bytes);
  std::memset(to + head.shape.length * head.size, 0,
              static_cast<std::size_t>(head.padded - head.shape.length) * bytes);
}

ODB_INLINE void scatter_keys(const Head& head, const float* from, float* to) {
  for (std::int64_t token = 0; token < head.shape.length; ++token)
    std::memcpy(to + head.key(token), from + token * head.size,
                static_cast<std::size_t>(head.size) * sizeof(float));
}

// The queries (or values in their layout) of a block, times `scale`: [rows][size].
ODB_INLINE void gather_queries(const Head& head, const float* from, std::int64_t first,
                               std::int64_t tokens, float scale, float* to) {
  const std::int64_t width = head.group * head.size;
  for (std::int64_t t = 0; t < tokens; ++t) {
    const float* query = from + head.query(first + t);
    for (std::int64_t i = 0; i < width; i += kLanes)
      at(to + t * width + i) = at(query + i) * scale;
  }
}

// How many keys of the block that begins at `first_key` the row sees.
ODB_INLINE std::int64_t seen_keys(const Head& head, std::int64_t first, std::int64_t row,
                                  std::int64_t first_key) {
  return std::clamp<std::int64_t>(first + row / head.group - first_key + 1, 0, kKeys);
}

// The running softmax of a row: scores become weights; `out` is rescaled to the new maximum.
ODB_INLINE void soften(float* scores, std::int64_t seen, float& most, float& sum, float* out,
                       std::int64_t size) {
  constexpr float kLowest = std::numeric_limits<float>::lowest();
  Vector highest = Vector{} + kLowest;
  for (std::int64_t i = 0; i < kKeys; i += kLanes) {
    Vector& part = at(scores + i);
    if (i + kLanes > seen) part = first_lanes(seen - i) ? part : Vector{} + kLowest;
    highest = part > highest ? part : highest;
  }
  const float now = std::max(most, greatest(highest));
  Vector added = {};
  for (std::int64_t i = 0; i < kKeys; i += kLanes) {
    Vector weight = exponential(at(scores + i) - now);
    if (i + kLanes > seen) weight = first_lanes(seen - i) ? weight : Vector{};
    at(scores + i) = weight;
    added += weight;
  }
  if (now > most) {
    const float fade = most == kLowest ? 0 : std::exp(most - now);
    sum *= fade;
    for (std::int64_t i = 0; i < size; i += kLanes)
      at(out + i) *= fade;
    most = now;
  }
  sum += total(added);
}

template <typename Machine>
ODB_INLINE void forward_on(const Inputs& inputs, const Shape& shape, std::int64_t key_value_head,
                           float* out, float* logsumexp, float* workspace) {
  const Head head(shape, key_value_head);
  const std::int64_t size = head.size;
  float* const turned = workspace;
  float* const values = turned + head.padded * size;
  float* const queries = values + head.padded * size;
  float* const sums = queries + head.rows() * size;
  float* const scores = sums + head.rows() * size;
  float* const most = scores + head.rows() * kKeys;
  float* const weight = most + head.rows();
  transpose_keys(head, inputs.keys, turned);
  gather_keys(head, inputs.values, values);
  const float scale = 1 / std::sqrt(static_cast<float>(size));
  for (std::int64_t first = 0; first < shape.length; first += head.tokens) {
    const std::int64_t tokens = std::min(head.tokens, shape.length - first);
    const std::int64_t rows = tokens * head.group;
    gather_queries(head, inputs.queries, first, tokens, scale, queries);
    std::fill(sums, sums + rows * size, 0.0f);
    std::fill(most, most + rows, std::numeric_limits<float>::lowest());
    std::fill(weight, weight + rows, 0.0f);
    for (std::int64_t key = 0; key < first + tokens; key += kKeys) {
      product<Machine, false>({queries, size, 1}, turned + key * size, kKeys, scores, kKeys, rows,
                              kKeys, size);
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t seen = seen_keys(head, first, row, key);
        if (seen == 0)
          std::fill(scores + row * kKeys, scores + (row + 1) * kKeys, 0.0f);
        else
          soften(scores + row * kKeys, seen, most[row], weight[row], sums + row * size, size);
      }
      product<Machine, true>({scores, kKeys, 1}, values + key * size, size, sums, size, rows, size,
                             std::min(kKeys, first + tokens - key));
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t token = first + row / head.group;
      const std::int64_t place = row % head.group;
      float* const to = out + head.query(token) + place * size;
      for (std::int64_t i = 0; i < size; i += kLanes)
        at(to + i) = at(sums + row * size + i) / weight[row];
      logsumexp[head.log_sum(token) + place] = most[row] + std::log(weight[row]);
    }
  }
}

// Turns the scores of a row into weights, and d_weights into the gradient of the scores.
ODB_INLINE void differentiate(float* scores, float* d_weights, std::int64_t seen, float log_sum,
                              float delta) {
  for (std::int64_t i = 0; i < kKeys; i += kLanes) {
    Vector weight = exponential(at(scores + i) - log_sum);
    if (i + kLanes > seen) weight = first_lanes(seen - i) ? weight : Vector{};
    at(scores + i) = weight;
    at(d_weights + i) = weight * (at(d_weights + i) - delta);
  }
}

template <typename Machine>
ODB_INLINE void backward_on(const Inputs& inputs, const Outputs& outputs, const Shape& shape,
                            std::int64_t key_value_head, const Gradients& gradients,
                            float* workspace) {
  const Head head(shape, key_value_head);
  const std::int64_t size = head.size;
  const std::int64_t all_keys = head.padded * size;
  const std::int64_t block = head.rows() * size;
  float* const turned_keys = workspace;
  float* const turned_values = turned_keys + all_keys;
  float* const keys = turned_values + all_keys;
  float* const d_keys = keys + all_keys;
  float* const d_values = d_keys + all_keys;
  float* const queries = d_values + all_keys;
  float* const d_queries = queries + block;
  float* const d_out = d_queries + block;
  float* const weights = d_out + block;
  float* const d_scores = weights + head.rows() * kKeys;
  float* const deltas = d_scores + head.rows() * kKeys;
  transpose_keys(head, inputs.keys, turned_keys);
  transpose_keys(head, inputs.values, turned_values);
  gather_keys(head, inputs.keys, keys);
  std::fill(d_keys, d_keys + 2 * all_keys, 0.0f);
  const float scale = 1 / std::sqrt(static_cast<float>(size));
  for (std::int64_t first = 0; first < shape.length; first += head.tokens) {
    const std::int64_t tokens = std::min(head.tokens, shape.length - first);
    const std::int64_t rows = tokens * head.group;
    gather_queries(head, inputs.queries, first, tokens, scale, queries);
    gather_queries(head, outputs.d_out, first, tokens, 1, d_out);
    std::fill(d_queries, d_queries + rows * size, 0.0f);
    for (std::int64_t row = 0; row < rows; ++row)
      deltas[row] =
          dot(outputs.out + head.query(first + row / head.group) + row % head.group * size,
              d_out + row * size, size);
    for (std::int64_t key = 0; key < first + tokens; key += kKeys) {
      const std::int64_t depth = std::min(kKeys, shape.length - key);
      product<Machine, false>({queries, size, 1}, turned_keys + key * size, kKeys, weights, kKeys,
                              rows, kKeys, size);
      product<Machine, false>({d_out, size, 1}, turned_values + key * size, kKeys, d_scores, kKeys,
                              rows, kKeys, size);
      for (std::int64_t row = 0; row < rows; ++row)
        differentiate(weights + row * kKeys, d_scores + row * kKeys,
                      seen_keys(head, first, row, key),
                      outputs.logsumexp[head.log_sum(first + row / head.group) + row % head.group],
                      deltas[row]);
      product<Machine, true>({weights, 1, kKeys}, d_out, size, d_values + key * size, size, depth,
                             size, rows);
      product<Machine, true>({d_scores, 1, kKeys}, queries, size, d_keys + key * size, size, depth,
                             size, rows);
      product<Machine, true>({d_scores, kKeys, 1}, keys + key * size, size, d_queries, size, rows,
                             size, depth);
    }
    const std::int64_t width = head.group * size;
    for (std::int64_t t = 0; t < tokens; ++t)
      for (std::int64_t i = 0; i < width; i += kLanes)
        at(gradients.queries + head.query(first + t) + i) = at(d_queries + t * width + i) * scale;
  }
  scatter_keys(head, d_keys, gradients.keys);
  scatter_keys(head, d_values, gradients.values);
}

#define ODB_AVX512 __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#define ODB_AVX2 __attribute__((target("arch=x86-64-v3")))

ODB_AVX512 void forward_avx512(const Inputs& inputs, const Shape& shape, std::int64_t head,
                               float* out, float* logsumexp, float* workspace) {
  forward_on<Avx512>(inputs, shape, head, out, logsumexp, workspace);
}
ODB_AVX2 void forward_avx2(const Inputs& inputs, const Shape& shape, std::int64_t head, float* out,
                           float* logsumexp, float* workspace) {
  forward_on<Avx2>(inputs, shape, head, out, logsumexp, workspace);
}
ODB_AVX512 void backward_avx512(const Inputs& inputs, const Outputs& outputs, const Shape& shape,
                                std::int64_t head, const Gradients& gradients, float* workspace) {
  backward_on<Avx512>(inputs, outputs, shape, head, gradients, workspace);
}
ODB_AVX2 void backward_avx2(const Inputs& inputs, const Outputs& outputs, const Shape& shape,
                            std::int64_t head, const Gradients& gradients, float* workspace) {
  backward_on<Avx2>(inputs, outputs, shape, head, gradients, workspace);
}

}  // namespace

std::int64_t workspace_size(const Shape& shape) {
  const Head head(shape, 0);
  const std::int64_t forward =
      2 * head.padded * head.size + head.rows() * (2 * head.size + kKeys + 2);
  const std::int64_t backward =
      5 * head.padded * head.size + head.rows() * (3 * head.size + 2 * kKeys + 1);
  return std::max(forward, backward);
}

std::optional<Instructions> instructions_for(std::int64_t head_size) {
  if (head_size <= 0 || head_size % kLanes != 0) return std::nullopt;
  if (__builtin_cpu_supports("x86-64-v4")) return Instructions::avx512;
  if (__builtin_cpu_supports("x86-64-v3")) return Instructions::avx2;
  return std::nullopt;
}

void forward(Instructions instructions, const Inputs& inputs, const Shape& shape,
             std::int64_t key_value_head, float* out, float* logsumexp, float* workspace) {
  const auto run = instructions == Instructions::avx512 ? forward_avx512 : forward_avx2;
  run(inputs, shape, key_value_head, out, logsumexp, workspace);
}

void backward(Instructions instructions, const Inputs& inputs, const Outputs& outputs,
              const Shape& shape, std::int64_t key_value_head, const Gradients& gradients,
              float* workspace) {
  const auto run = instructions == Instructions::avx512 ? backward_avx512 : backward_avx2;
  run(inputs, outputs, shape, key_value_head, gradients, workspace);
}

#else

std::int64_t workspace_size(const Shape&) {
  return 0;
}
std::optional<Instructions> instructions_for(std::int64_t) {
  return std::nullopt;
}
void forward(Instructions, const Inputs&, const Shape&, std::int64_t, float*, float*, float*) {}
void backward(Instructions, const Inputs&, const Outputs&, const Shape&, std::int64_t,
              const Gradients&, float*) {}

#endif

}  // namespace odb::attention
