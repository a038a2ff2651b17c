// The estimate's parts, counted by hand for a tiny model of 2 layers, hidden 8, feed-forward 12,
// 4 heads of 4 (2 for keys and values), vocabulary 20. tests/apps/memory_test.cc compares the sum
// with real runs.
#include "model/cost.h"

#include <limits>

#include "catch.h"
#include "model/files/weight_names.h"
#include "test_models.h"

using namespace odb;

namespace {

constexpr std::int64_t kTokens = 100;
constexpr std::int64_t kParameters = 1720;

// 4 x 8 for sums and norms, 32 q, k and v, 3 x 12; attention's 32 and 16 in fp32; 2 + 2 x 4 + 2
// scales.
constexpr std::int64_t kBlockKept = kTokens * (4 * (32 + 32 + 36) + 4 * (32 + 16) + 4 * 12);
constexpr std::int64_t kStates = kTokens * 4 * (4 * 8);
// 3 x 8 of the stream; q, k and v twice and the output are wider than 3 x 12.
constexpr std::int64_t kBlockWorking = kTokens * 4 * (24 + 2 * 32 + 16);

}  // namespace

TEST_CASE("The memory of training in fp32, by part") {
  const MemoryEstimate memory = estimate_memory(parse(tiny_config()), {}, kTokens);
  CHECK(memory.weights == 4 * kParameters);
  CHECK(memory.gradients == 4 * kParameters);
  CHECK(memory.optimizer == 8 * kParameters);
  CHECK(memory.copies == 0);
  CHECK(memory.activations == kStates + 2 * kBlockKept);
  CHECK(memory.working == kBlockWorking);
  CHECK(memory.process == 240'000'000 + 3 * (memory.activations + memory.working) / 20);
  CHECK(memory.total() == 16 * kParameters + memory.activations + memory.working + memory.process);
}

TEST_CASE("The memory of training in bf16: copies of matrices, attention stays fp32") {
  const MemoryEstimate memory =
      estimate_memory(parse(tiny_config()), {.dtype = ComputeType::bf16}, kTokens);
  CHECK(memory.weights == 4 * kParameters);
  CHECK(memory.copies == 2 * 2 * (32 * 8 + 8 * 16 + 24 * 8 + 8 * 12));
  const std::int64_t block = kTokens * (2 * (32 + 32 + 36 + 16) + 4 * (32 + 16) + 4 * 12);
  CHECK(memory.activations == kStates / 2 + 2 * block);
  CHECK(memory.working == kBlockWorking / 2);
}

TEST_CASE("The memory of recomputed blocks: two states each, and one block at a time") {
  const MemoryEstimate memory =
      estimate_memory(parse(tiny_config()), {.recompute = Recompute::block}, kTokens);
  CHECK(memory.activations == kStates + 2 * kTokens * 4 * (2 * 8));
  CHECK(memory.working == kBlockWorking + kBlockKept);
}

TEST_CASE("With a large vocabulary the token loss is the worst moment, in chunks of bounded size") {
  nlohmann::ordered_json json = tiny_config();
  json["vocab_size"] = 1'000'000;
  json["tie_word_embeddings"] = true;
  const ModelConfig config = parse(json);
  const std::int64_t head = 1'000'000 * 8;
  const std::int64_t chunk = 4 * 1'000'000 * 256;
  CHECK(estimate_memory(config, {}, 10).working == 4 * 1'000'000 * 10 + 8 * head);
  CHECK(estimate_memory(config, {}, 500).working == chunk + 8 * head);
  CHECK(estimate_memory(config, {.dtype = ComputeType::bf16}, 500).working ==
        chunk + chunk / 2 + 8 * head);
}

TEST_CASE("Huge micro-batches do not overflow the estimate") {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const MemoryEstimate memory = estimate_memory(parse(tiny_config()), {}, most);
  CHECK(memory.activations == std::int64_t{1} << 59);
  CHECK(memory.working == std::int64_t{1} << 59);
  CHECK(memory.total() > memory.activations);
}
