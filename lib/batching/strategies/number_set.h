// A set of integers below a fixed size that finds the next member at or above a number. It is a
// tree of 64-bit words: each bit of a level says whether a word of the level below has members.
// Every call takes at most one step per level: four for 2^24 numbers.
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

  // The smallest member >= `number`. `number` may exceed the size.
  std::optional<std::size_t> at_or_above(std::size_t number) const;

 private:
  std::vector<std::vector<std::uint64_t>> levels_;  // the finest first
};

}  // namespace odb
