// The memory kept for later tensors, and that it stays near the peak use of tensors.
#include "model/cpu/caching_allocator.h"

#include <algorithm>

#include <torch/types.h>

#include "base/rng.h"
#include "catch.h"

namespace odb {
namespace {

torch::Tensor floats(std::int64_t count) {
  return torch::empty({count}, torch::kFloat);
}

}  // namespace

TEST_CASE("blocks have four size classes to a doubling") {
  std::size_t before = 0;
  for (std::size_t bytes = 1; bytes < (std::size_t{1} << 33); bytes += 1 + bytes / 500) {
    const std::size_t size = size_class(bytes);
    CAPTURE(bytes, size);
    REQUIRE(size >= bytes);
    REQUIRE(size % 4096 == 0);
    REQUIRE(size >= before);
    if (bytes > 65536) REQUIRE(size <= bytes + bytes / 3);
    before = size;
  }
}

TEST_CASE("full and nearly full batches of a round budget have tensors of one class") {
  constexpr std::size_t kHeader = 64;
  for (const std::size_t width : {192, 320, 512, 1024})
    for (const std::size_t tokens : {3700, 3900, 4095})
      CHECK(size_class(tokens * width * 4 + kHeader) == size_class(4096 * width * 4 + kHeader));
}

TEST_CASE("a tensor gets the memory of the last one of its class") {
  enable_caching_allocator();
  constexpr std::int64_t kCount = 300000;
  const void* first = nullptr;
  {
    const torch::Tensor tensor = floats(kCount).fill_(1);
    first = tensor.const_data_ptr();
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    CHECK(caching_allocator_stats().in_use > kCount * 4);
  }
  const std::int64_t kept = caching_allocator_stats().cached;
  CHECK(kept > kCount * 4);
  const torch::Tensor longer = floats(kCount + 1000).fill_(2);
  CHECK(longer.const_data_ptr() == first);
  CHECK(caching_allocator_stats().cached == kept - caching_allocator_stats().in_use);
  const torch::Tensor other = floats(kCount);
  CHECK(other.const_data_ptr() != first);
  CHECK(longer.sum().item<float>() == 2.0f * (kCount + 1000));
}

TEST_CASE("kept memory makes room for blocks of other sizes") {
  enable_caching_allocator();
  Rng rng(3, RandomPurpose::tests, 0, 0);
  std::int64_t most = 0;
  for (int round = 0; round < 300; ++round) {
    const std::int64_t count = 100000 + static_cast<std::int64_t>(rng.below(4000000));
    const torch::Tensor tensor = floats(count);
    most = std::max(
        most, static_cast<std::int64_t>(size_class(static_cast<std::size_t>(count) * 4 + 64)));
    REQUIRE(caching_allocator_stats().peak <= most + most / 16);
  }
}

TEST_CASE("empty and small tensors are tensors like others") {
  enable_caching_allocator();
  const std::int64_t before = caching_allocator_stats().in_use;
  CHECK(torch::zeros({0}).numel() == 0);
  CHECK(torch::ones({3}).sum().item<float>() == 3);
  CHECK(torch::ones({1000}).clone().sum().item<float>() == 1000);
  CHECK(caching_allocator_stats().in_use == before);
}

}  // namespace odb
