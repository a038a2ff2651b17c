#include "batching/strategies/number_set.h"

#include <bit>

namespace odb {
namespace {

constexpr std::size_t kWordBits = 64;

constexpr std::uint64_t bit(std::size_t number) {
  return std::uint64_t{1} << number % kWordBits;
}

}  // namespace

NumberSet::NumberSet(std::size_t size) {
  do {
    size = (size + kWordBits - 1) / kWordBits;
    levels_.emplace_back(size);
  } while (size > 1);
}

void NumberSet::insert(std::size_t number) {
  for (auto& words : levels_) {
    words[number / kWordBits] |= bit(number);
    number /= kWordBits;
  }
}

void NumberSet::erase(std::size_t number) {
  for (auto& words : levels_) {
    words[number / kWordBits] &= ~bit(number);
    if (words[number / kWordBits] != 0) return;
    number /= kWordBits;
  }
}

std::optional<std::size_t> NumberSet::at_or_above(std::size_t number) const {
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const std::size_t word = number / kWordBits;
    if (word >= levels_[level].size()) return std::nullopt;
    const std::uint64_t members = levels_[level][word] & ~(bit(number) - 1);
    if (members == 0) {
      number = word + 1;  // search the later words, one level up
      continue;
    }
    number = word * kWordBits + static_cast<std::size_t>(std::countr_zero(members));
    while (level-- > 0)
      number =
          number * kWordBits + static_cast<std::size_t>(std::countr_zero(levels_[level][number]));
    return number;
  }
  return std::nullopt;
}

}  // namespace odb
