#include "base/rng.h"

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace odb {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint32_t low_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t high_word(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

// Its own key per (purpose, epoch); the last word keeps these blocks apart from any stream's.
PhiloxKey stream_key(std::uint64_t seed, RandomPurpose purpose, std::uint64_t epoch) {
  const PhiloxBlock block =
      philox4x32({static_cast<std::uint32_t>(purpose), low_word(epoch), high_word(epoch), 1},
                 {low_word(seed), high_word(seed)});
  return {block[0], block[1]};
}

}  // namespace

PhiloxBlock philox4x32(PhiloxBlock counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {high_word(b) ^ counter[1] ^ key[0], low_word(b), high_word(a) ^ counter[3] ^ key[1],
               low_word(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

Rng::Rng(std::uint64_t seed, RandomPurpose purpose, std::uint64_t epoch, std::uint64_t item)
    : key_(stream_key(seed, purpose, epoch)), counter_{0, 0, low_word(item), high_word(item)} {}

std::uint32_t Rng::bits32() {
  if (used_ == block_.size()) {
    block_ = philox4x32(counter_, key_);
    if (++counter_[0] == 0) ++counter_[1];
    used_ = 0;
  }
  return block_[used_++];
}

std::uint64_t Rng::bits64() {
  const std::uint64_t low = bits32();
  return low | std::uint64_t{bits32()} << 32;
}

// Lemire, "Fast Random Integer Generation in an Interval": the high half of a product, rejecting
// the few low halves that would favor some values.
std::uint64_t Rng::below(std::uint64_t bound) {
  ODB_CHECK_GT(bound, 0u);
  Wide product = Wide{bits64()} * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t rejected = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < rejected)
      product = Wide{bits64()} * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Rng::uniform() {
  return static_cast<double>(bits64() >> 11) * 0x1p-53;
}

double Rng::normal() {
  if (has_kept_normal_) {
    has_kept_normal_ = false;
    return kept_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  kept_normal_ = radius * std::sin(angle);
  has_kept_normal_ = true;
  return radius * std::cos(angle);
}

}  // namespace odb
