// The parts of which quantities are made: numbers with an optional fraction, words after them, and
// scales ("k", "min", "MiB") by which a number is multiplied exactly. Grammar and limits: amount.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/reading.h"

namespace odb {

// mantissa / divisor, the divisor a power of ten; so that fractions are scaled exactly.
struct Decimal {
  int64_t mantissa = 0;
  int64_t divisor = 1;
};

struct Scale {
  std::string_view name;
  int64_t factor;
};

// Null when no scale of the list has this name.
const Scale* find_scale(const auto& scales, std::string_view name) {
  const auto found = std::ranges::find(scales, name, &Scale::name);
  return found == scales.end() ? nullptr : &*found;
}

// number * factor; a result that is not whole is refused with `problem_when_fraction`.
Reading<int64_t> scaled(Decimal number, int64_t factor, const char* problem_when_fraction);

// Cuts a text into numbers and words; spaces between them are skipped. The text must outlive it.
class QuantityScanner {
 public:
  explicit QuantityScanner(std::string_view text) : rest_(text) { skip_spaces(); }

  bool at_end() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

  Reading<Decimal> number();  // digits, or digits.digits; no sign, no exponent
  std::string_view word();    // the letters that come next; may be none

 private:
  void skip_spaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  std::string_view rest_;
};

}  // namespace odb
