// Random text for differential tests: mixes of ASCII, of what patterns look at, and of any script.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>

namespace odb {

// `is_wanted` selects the code points that may occur.
class RandomText {
 public:
  RandomText(std::uint32_t seed, std::function<bool(std::uint32_t)> is_wanted)
      : random_(seed), is_wanted_(std::move(is_wanted)) {}

  // 0 to `longest` characters.
  std::string text(std::size_t longest);

 private:
  std::uint32_t code_point();
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  std::mt19937 random_;
  std::function<bool(std::uint32_t)> is_wanted_;
};

}  // namespace odb
