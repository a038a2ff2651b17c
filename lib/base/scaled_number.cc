#include "base/scaled_number.h"

#include <numeric>

#include "base/amount.h"

namespace odb {
namespace {

constexpr const char* kTooLarge = "too large";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

Reading<int64_t> scaled(Decimal number, int64_t factor, const char* problem_when_fraction) {
  const int64_t common = std::gcd(factor, number.divisor);
  factor /= common;
  number.divisor /= common;
  if (number.mantissa % number.divisor != 0) return {std::nullopt, problem_when_fraction};
  int64_t result = 0;
  if (__builtin_mul_overflow(number.mantissa / number.divisor, factor, &result) ||
      result > kLargestAmount)
    return {std::nullopt, kTooLarge};
  return {result};
}

Reading<Decimal> QuantityScanner::number() {
  if (rest_.starts_with('-') || rest_.starts_with('+'))
    return {std::nullopt, "a sign is not allowed"};
  Decimal result;
  size_t i = 0;
  bool fraction = false;
  for (; i < rest_.size() && (is_digit(rest_[i]) || (rest_[i] == '.' && !fraction)); ++i) {
    if (rest_[i] == '.') {
      fraction = true;
      continue;
    }
    if (result.mantissa > kLargestAmount || result.divisor > kLargestAmount)
      return {std::nullopt, fraction ? "too many digits" : kTooLarge};
    result.mantissa = result.mantissa * 10 + (rest_[i] - '0');
    if (fraction) result.divisor *= 10;
  }
  if (i == 0 || !is_digit(rest_[i - 1]) || !is_digit(rest_[0]))
    return {std::nullopt, "a number must come first"};
  rest_.remove_prefix(i);
  skip_spaces();
  return {result};
}

std::string_view QuantityScanner::word() {
  size_t i = 0;
  while (i < rest_.size() && is_letter(rest_[i]))
    ++i;
  const std::string_view result = rest_.substr(0, i);
  rest_.remove_prefix(i);
  skip_spaces();
  return result;
}

}  // namespace odb
