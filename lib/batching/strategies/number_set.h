// A set of whole numbers below a fixed size that finds the next one at or above any: a tree of
// 64-bit words, each bit of a level telling whether the word of the level below holds any. All
// calls take as many steps as there are levels: four for 2^24 numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace odb {

class NumberSet {
 public:
  // Empty, for numbers 0..size-1. size >= 1.
  explicit NumberSet(std::size_t size);

  void insert(std::size_t number);
  void erase(std::size_t number);

  // The least member that is not below `number`, which may be past the size.
  std::optional<std::size_t> at_or_above(std::size_t number) const;

 private:
  std::vector<std::vector<std::uint64_t>> levels_;  // the finest first
};

}  // namespace odb
