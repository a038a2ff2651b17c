// A pseudo-random order of 0..N-1 that needs no table: O(1) memory, O(1) seek, with an inverse.
//
// A Feistel network over the smallest power of two >= N, its two halves as equal as the bits allow,
// with cycle walking: a value outside 0..N-1 is sent through again until it lands inside (Black and
// Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). Fewer than two passes on average.
#pragma once

#include <array>
#include <cstdint>

namespace odb {

class Permutation {
 public:
  // The order of `size` items under (seed, epoch). 0 <= size <= 2^62.
  Permutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);

  std::int64_t size() const { return size_; }

  // The item at `position`, and the position of `item`; both 0..size-1 (checked).
  std::int64_t operator()(std::int64_t position) const;
  std::int64_t inverse(std::int64_t item) const;

 private:
  static constexpr int kMaxRounds = 24;

  std::uint64_t forward_once(std::uint64_t value) const;
  std::uint64_t backward_once(std::uint64_t value) const;

  std::int64_t size_;
  int low_bits_ = 0;
  int rounds_ = 0;  // few bits need more rounds to mix
  std::uint64_t low_mask_ = 0;
  std::uint64_t high_mask_ = 0;
  std::array<std::uint64_t, kMaxRounds> keys_{};
};

}  // namespace odb
