// The speed of random numbers and of places in an epoch's order: each is computed once or more
// per sample.
#include <cstdint>

#include <benchmark/benchmark.h>

#include "base/permutation.h"
#include "base/rng.h"

namespace {

using namespace odb;

void permutation_forward(benchmark::State& state) {
  const Permutation order(state.range(0), 1, 2);
  std::int64_t position = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(order(position));
    if (++position == order.size()) position = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
void permutation_inverse(benchmark::State& state) {
  const Permutation order(state.range(0), 1, 2);
  std::int64_t item = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(order.inverse(item));
    if (++item == order.size()) item = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
// 2^20 + 1: the worst case, two passes on average.
BENCHMARK(permutation_forward)->Arg(1000)->Arg(10'000'000)->Arg((1 << 20) + 1)->ArgName("size");
BENCHMARK(permutation_inverse)->Arg(1000)->Arg(10'000'000)->Arg((1 << 20) + 1)->ArgName("size");

template <typename Draw>
void draw_numbers(benchmark::State& state, Draw draw) {
  Rng rng(1, RandomPurpose::tests);
  for (auto _ : state)
    benchmark::DoNotOptimize(draw(rng));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(draw_numbers, bits64, [](Rng& rng) { return rng.bits64(); });
BENCHMARK_CAPTURE(draw_numbers, below_1000, [](Rng& rng) { return rng.below(1000); });
BENCHMARK_CAPTURE(draw_numbers, uniform, [](Rng& rng) { return rng.uniform(); });
BENCHMARK_CAPTURE(draw_numbers, normal, [](Rng& rng) { return rng.normal(); });

// A stream for every sample: what random access costs.
void first_number_of_a_stream(benchmark::State& state) {
  std::uint64_t item = 0;
  for (auto _ : state) {
    Rng rng(1, RandomPurpose::tests, 0, item++);
    benchmark::DoNotOptimize(rng.bits64());
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(first_number_of_a_stream);

}  // namespace
