// The attention kernels against the formula, written out in fp64.
#include "model/cpu/attention_kernel.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "catch.h"

namespace odb {
namespace {

using attention::Instructions;
using attention::Shape;

std::vector<float> random_values(std::int64_t count, std::uint64_t stream) {
  Rng rng(7, RandomPurpose::tests, 0, stream);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values)
    value = static_cast<float>(2 * rng.uniform() - 1) * 1.7f;
  return values;
}

// The inputs and the expected results of one row.
struct Row {
  Shape shape;
  std::vector<float> queries, keys, values, d_out;
  std::vector<double> out, d_queries, d_keys, d_values;

  explicit Row(const Shape& of) : shape(of) {
    const std::int64_t query = of.length * of.heads * of.head_size;
    const std::int64_t key = of.length * of.key_value_heads * of.head_size;
    queries = random_values(query, 1);
    keys = random_values(key, 2);
    values = random_values(key, 3);
    d_out = random_values(query, 4);
    out.resize(queries.size());
    d_queries.resize(queries.size());
    d_keys.resize(keys.size());
    d_values.resize(keys.size());
    for (std::int64_t head = 0; head < of.heads; ++head)
      for (std::int64_t token = 0; token < of.length; ++token)
        attend(token, head);
  }

  void attend(std::int64_t token, std::int64_t head) {
    const std::int64_t size = shape.head_size;
    const std::int64_t shared = head / (shape.heads / shape.key_value_heads);
    const auto query = static_cast<std::size_t>((token * shape.heads + head) * size);
    const auto key = [&](std::int64_t of) {
      return static_cast<std::size_t>((of * shape.key_value_heads + shared) * size);
    };
    const double scale = 1 / std::sqrt(static_cast<double>(size));
    const auto width = static_cast<std::size_t>(size);
    const auto seen = static_cast<std::size_t>(token + 1);
    std::vector<double> weights(seen), d_weights(seen);
    double most = -1e300, sum = 0, delta = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      const std::size_t at = key(static_cast<std::int64_t>(j));
      for (std::size_t i = 0; i < width; ++i) {
        weights[j] += double{queries[query + i]} * keys[at + i] * scale;
        d_weights[j] += double{d_out[query + i]} * values[at + i];
      }
      most = std::max(most, weights[j]);
    }
    for (double& weight : weights)
      sum += weight = std::exp(weight - most);
    for (std::size_t j = 0; j < seen; ++j)
      delta += (weights[j] /= sum) * d_weights[j];
    for (std::size_t j = 0; j < seen; ++j) {
      const std::size_t at = key(static_cast<std::int64_t>(j));
      const double d_score = weights[j] * (d_weights[j] - delta) * scale;
      for (std::size_t i = 0; i < width; ++i) {
        out[query + i] += weights[j] * values[at + i];
        d_queries[query + i] += d_score * keys[at + i];
        d_keys[at + i] += d_score * queries[query + i];
        d_values[at + i] += weights[j] * d_out[query + i];
      }
    }
  }
};

double worst_difference(const std::vector<float>& found, const std::vector<double>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    worst = std::max(worst, std::fabs(found[i] - expected[i]) / (1 + std::fabs(expected[i])));
  return worst;
}

void check(const Shape& shape, Instructions instructions) {
  CAPTURE(shape.length, shape.heads, shape.key_value_heads, shape.head_size,
          static_cast<int>(instructions));
  const Row row(shape);
  constexpr float kUnwritten = 1e30f;
  std::vector<float> out(row.queries.size(), kUnwritten), d_queries(out),
      d_keys(row.keys.size(), kUnwritten), d_values(d_keys);
  std::vector<float> logsumexp(static_cast<std::size_t>(shape.length * shape.heads));
  const attention::Inputs inputs{row.queries.data(), row.keys.data(), row.values.data()};
  std::vector<float> memory(static_cast<std::size_t>(attention::workspace_size(shape)));
  float* const workspace = memory.data();
  for (std::int64_t head = 0; head < shape.key_value_heads; ++head) {
    attention::forward(instructions, inputs, shape, head, out.data(), logsumexp.data(), workspace);
    attention::backward(instructions, inputs, {out.data(), logsumexp.data(), row.d_out.data()},
                        shape, head, {d_queries.data(), d_keys.data(), d_values.data()}, workspace);
  }
  CHECK(worst_difference(out, row.out) < 2e-6);
  CHECK(worst_difference(d_queries, row.d_queries) < 5e-6);
  CHECK(worst_difference(d_keys, row.d_keys) < 1e-5);
  CHECK(worst_difference(d_values, row.d_values) < 1e-5);
}

}  // namespace

TEST_CASE("attention kernels give what the formula says, whatever the shape") {
  const auto best = attention::instructions_for(64);
  if (!best) {
    WARN("this processor has neither AVX2 nor AVX-512: the kernels are not used");
    return;
  }
  std::vector<Instructions> all = {Instructions::avx2};
  if (*best == Instructions::avx512) all.push_back(Instructions::avx512);
  for (const Instructions instructions : all) {
    for (const std::int64_t length : {1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 200})
      check({length, 6, 2, 32}, instructions);
    for (const std::int64_t size : {16, 48, 64, 80, 96, 128, 256})
      check({70, 4, 2, size}, instructions);
    check({70, 3, 3, 32}, instructions);   // no sharing
    check({70, 8, 1, 32}, instructions);   // all share one
    check({5, 128, 1, 16}, instructions);  // more query heads than a block has rows
    check({300, 1, 1, 16}, instructions);  // several blocks of queries
  }
}

TEST_CASE("attention kernels hold large scores") {
  const auto best = attention::instructions_for(16);
  if (!best) return;
  // Two tokens, one head: the second token's score with the first is 4000, with itself -4000.
  const Shape shape{2, 1, 1, 16};
  std::vector<float> queries(32), keys(32), values(32), out(32), logsumexp(2);
  queries[16] = 100;
  keys[0] = 160;
  keys[16] = -160;
  std::fill(values.begin(), values.begin() + 16, 1.0f);
  std::fill(values.begin() + 16, values.end(), 2.0f);
  std::vector<float> memory(static_cast<std::size_t>(attention::workspace_size(shape)));
  float* const workspace = memory.data();
  attention::forward(*best, {queries.data(), keys.data(), values.data()}, shape, 0, out.data(),
                     logsumexp.data(), workspace);
  CHECK(out[0] == 1.0f);
  CHECK(out[16] == 1.0f);
  CHECK(logsumexp[1] == 4000.0f);
}

TEST_CASE("head sizes that are not a multiple of 16 are not supported") {
  CHECK_FALSE(attention::instructions_for(20));
  CHECK_FALSE(attention::instructions_for(0));
}

}  // namespace odb
