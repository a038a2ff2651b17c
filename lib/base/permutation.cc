#include "base/permutation.h"

#include <bit>

#include "base/error.h"
#include "base/index.h"
#include "base/rng.h"

namespace odb {
namespace {

// Below this many bits a half is so small that a round has few functions to choose from.
constexpr int kFewBits = 12;
constexpr int kUsualRounds = 8;

// The round function: any function makes a bijection. One product by a random odd number, of which
// the upper half depends on every bit of `half`, is the fastest that mixes well over eight rounds.
std::uint64_t mix(std::uint64_t half, std::uint64_t key) {
  return ((half ^ key >> 32) * (key | 1)) >> 32;
}

}  // namespace

Permutation::Permutation(std::int64_t size, std::uint64_t seed, std::uint64_t epoch)
    : size_(size), rounds_(kUsualRounds) {
  ODB_CHECK(size >= 0 && size <= std::int64_t{1} << 62, "a permutation of {} items", size);
  const int bits = size > 1 ? std::bit_width(static_cast<std::uint64_t>(size - 1)) : 0;
  if (bits < kFewBits) rounds_ = kMaxRounds;
  low_bits_ = bits - bits / 2;
  low_mask_ = (std::uint64_t{1} << low_bits_) - 1;
  high_mask_ = (std::uint64_t{1} << bits / 2) - 1;
  Rng rng(seed, RandomPurpose::sample_order, epoch);
  for (std::uint64_t& key : keys_)
    key = rng.bits64();
}

std::uint64_t Permutation::forward_once(std::uint64_t value) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (int i = 0; i < rounds_; i += 2) {
    low ^= mix(high, at(keys_, i)) & low_mask_;
    high ^= mix(low, keys_[static_cast<std::size_t>(i) + 1]) & high_mask_;
  }
  return high << low_bits_ | low;
}

std::uint64_t Permutation::backward_once(std::uint64_t value) const {
  std::uint64_t low = value & low_mask_;
  std::uint64_t high = value >> low_bits_;
  for (int i = rounds_; i > 0; i -= 2) {
    high ^= mix(low, keys_[static_cast<std::size_t>(i) - 1]) & high_mask_;
    low ^= mix(high, keys_[static_cast<std::size_t>(i) - 2]) & low_mask_;
  }
  return high << low_bits_ | low;
}

std::int64_t Permutation::operator()(std::int64_t position) const {
  ODB_CHECK(position >= 0 && position < size_, "position {} of {}", position, size_);
  auto value = static_cast<std::uint64_t>(position);
  do
    value = forward_once(value);
  while (value >= static_cast<std::uint64_t>(size_));
  return static_cast<std::int64_t>(value);
}

std::int64_t Permutation::inverse(std::int64_t item) const {
  ODB_CHECK(item >= 0 && item < size_, "item {} of {}", item, size_);
  auto value = static_cast<std::uint64_t>(item);
  do
    value = backward_once(value);
  while (value >= static_cast<std::uint64_t>(size_));
  return static_cast<std::int64_t>(value);
}

}  // namespace odb
