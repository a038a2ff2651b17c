// Attention of one batch, forward and backward: the model's own kernels and LibTorch's
// scaled_dot_product_attention, on equal rows of the shapes of small models. On all threads.
#include <cstdint>

#include <ATen/ops/scaled_dot_product_attention.h>
#include <benchmark/benchmark.h>
#include <torch/types.h>

#include "model/layers/attention.h"

namespace {

using namespace odb;
using torch::Tensor;

constexpr std::int64_t kTokens = 4096;

struct Heads {
  std::int64_t length, queries, keys, size;

  explicit Heads(const benchmark::State& state)
      : length(state.range(0)),
        queries(state.range(1)),
        keys(state.range(2)),
        size(state.range(3)) {}
  std::int64_t rows() const { return kTokens / length; }
};

// q, k and v, [tokens, heads, size].
AttentionInputs random_inputs(const Heads& heads) {
  torch::manual_seed(1);
  const auto made = [&](std::int64_t count) {
    return torch::randn({kTokens, count, heads.size}).requires_grad_();
  };
  return {made(heads.queries), made(heads.keys), made(heads.keys)};
}

void drop_gradients(const AttentionInputs& inputs) {
  for (const Tensor& tensor : {inputs.queries, inputs.keys, inputs.values})
    tensor.mutable_grad() = Tensor();
}

template <typename Attend>
void forward_and_backward(benchmark::State& state, const Attend& attend_heads) {
  const Heads heads(state);
  const AttentionInputs inputs = random_inputs(heads);
  const Tensor back = torch::ones({kTokens, heads.queries * heads.size});
  for (auto _ : state) {
    attend_heads(inputs, heads).backward(back);
    drop_gradients(inputs);
  }
  state.SetItemsProcessed(state.iterations() * kTokens);
}

void own_kernels(benchmark::State& state) {
  forward_and_backward(state, [](const AttentionInputs& inputs, const Heads& heads) {
    return attend(inputs, RowOffsets::padded(heads.rows(), heads.length));
  });
}

void scaled_dot_product_attention(benchmark::State& state) {
  forward_and_backward(state, [](const AttentionInputs& inputs, const Heads& heads) {
    const auto by_row = [&](const Tensor& all) {
      return all.view({heads.rows(), heads.length, all.size(1), heads.size}).transpose(1, 2);
    };
    return at::scaled_dot_product_attention(
               by_row(inputs.queries), by_row(inputs.keys), by_row(inputs.values), {}, 0.0,
               /*is_causal=*/true, std::nullopt, /*enable_gqa=*/heads.queries != heads.keys)
        .transpose(1, 2)
        .reshape({kTokens, heads.queries * heads.size});
  });
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"length", "heads", "key_heads", "size"})->UseRealTime();
  bench->Unit(benchmark::kMillisecond);
  for (const std::int64_t length : {64, 512, 4096}) {
    bench->Args({length, 6, 2, 32});
    bench->Args({length, 16, 8, 128});
  }
}
BENCHMARK(own_kernels)->Apply(shapes);
BENCHMARK(scaled_dot_product_attention)->Apply(shapes);

}  // namespace
