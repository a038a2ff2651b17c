// Seeded random numbers that do not depend on the order in which callers ask.
//
// Every number is a function of (seed, purpose, epoch, item) and of how many were drawn from that
// stream before: the counter-based generator Philox4x32-10 (Salmon et al., "Parallel Random
// Numbers: As Easy as 1, 2, 3", SC11). Streams are cheap to make, never overlap within one (seed,
// purpose, epoch), and give the same numbers on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "base/index.h"

namespace odb {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// The bare bijection: ten rounds over a 128-bit counter under a 64-bit key.
PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key);

// What a stream is for. Numbers are part of the meaning of a saved run: frozen.
enum class RandomPurpose : std::uint32_t {
  sample_order = 1,  // the permutation of an epoch
  round_choice = 2,  // which groups stay, in what order they leave
  batch_order = 3,   // strategies that shuffle whole batches
  lengths = 4,       // named length distributions of the simulator
  initial_weights = 5,
  augmentation = 6,
  noise = 7,  // diffusion noise and time
  dropout = 8,
  generation = 9,  // sampling of text
  tests = 100,
};

// One stream. A plain value: copying it copies its position. Also a standard
// UniformRandomBitGenerator (32 bits), but the standard's distributions differ between libraries:
// use the members.
class Rng {
 public:
  explicit Rng(std::uint64_t seed, RandomPurpose purpose, std::uint64_t epoch = 0,
               std::uint64_t item = 0);

  std::uint32_t bits32();
  std::uint64_t bits64();

  // Uniform in 0..bound-1, without modulo bias. bound > 0.
  std::uint64_t below(std::uint64_t bound);

  // Uniform in [0, 1): 53 random bits.
  double uniform();

  // Standard normal (Box-Muller; pairs, the second is kept for the next call).
  double normal();

  using result_type = std::uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()() { return bits32(); }

 private:
  PhiloxKey key_{};
  PhiloxBlock counter_{};  // words 0 and 1 count blocks, words 2 and 3 are the item
  PhiloxBlock block_{};
  std::uint32_t used_ = 4;  // words of block_ handed out
  double kept_normal_ = 0;
  bool has_kept_normal_ = false;
};

// Fisher-Yates: every order of `values` equally likely.
template <typename T>
void shuffle(std::span<T> values, Rng& rng) {
  for (std::size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], at(values, rng.below(i)));
}

}  // namespace odb
