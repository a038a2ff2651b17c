#include "base/amount.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "base/scaled_number.h"

namespace odb {
namespace {

// Largest first: the order of printing, and the order required in a duration.
constexpr std::array kCountScales = {Scale{"B", 1'000'000'000}, Scale{"M", 1'000'000},
                                     Scale{"k", 1'000}};
constexpr std::array kDurationScales = {Scale{"d", 86'400'000}, Scale{"h", 3'600'000},
                                        Scale{"min", 60'000}, Scale{"s", 1'000}, Scale{"ms", 1}};
constexpr std::array kByteScales = {Scale{"TiB", int64_t{1} << 40},
                                    Scale{"TB", 1'000'000'000'000},
                                    Scale{"GiB", 1 << 30},
                                    Scale{"GB", 1'000'000'000},
                                    Scale{"MiB", 1 << 20},
                                    Scale{"MB", 1'000'000},
                                    Scale{"KiB", 1 << 10},
                                    Scale{"kB", 1'000},
                                    Scale{"B", 1}};
constexpr int64_t kMillionth = 1'000'000;  // epochs are read and printed in millionths

struct UnitWords {
  Unit unit;
  std::string_view plural;
  std::string_view example;
};
constexpr std::array kUnits = {
    UnitWords{Unit::epochs, "epochs", "3e"}, UnitWords{Unit::samples, "samples", "500 samples"},
    UnitWords{Unit::tokens, "tokens", "1.5M tokens"}, UnitWords{Unit::steps, "steps", "100 steps"},
    UnitWords{Unit::seconds, "seconds", "30min"}};

// "epochs", "epoch": the plural with or without its s.
bool is_unit_word(std::string_view word, std::string_view plural) {
  return !word.empty() &&
         (word == plural || (plural.ends_with('s') && word == plural.substr(0, plural.size() - 1)));
}

std::string unknown_unit(std::string_view unit) {
  return fmt::format("unknown unit '{}'", unit);
}

// What follows the number of a count or an amount: [k|M|B] [word], nothing else.
struct Tail {
  int64_t factor = 1;
  std::string_view word = "";
};
Reading<Tail> read_tail(QuantityScanner& scanner) {
  Tail tail;
  tail.word = scanner.word();
  if (const Scale* scale = find_scale(kCountScales, tail.word)) {
    tail.factor = scale->factor;
    tail.word = scanner.word();
  }
  if (!scanner.at_end()) return {std::nullopt, unknown_unit(scanner.rest())};
  return {tail};
}

Reading<int64_t> whole(Decimal number, int64_t factor) {
  return scaled(number, factor, "not a whole number");
}

// 1500000 -> "1.5M": with a suffix where one decimal is enough to be exact.
std::string print_count(int64_t count) {
  for (const auto& [name, factor] : kCountScales) {
    if (count < factor || count % (factor / 10) != 0) continue;
    const int64_t tenths = count / (factor / 10) % 10;
    const std::string fraction = tenths == 0 ? "" : fmt::format(".{}", tenths);
    return fmt::format("{}{}{}", count / factor, fraction, name);
  }
  return fmt::format("{}", count);
}

// 2500000 millionths -> "2.5".
std::string print_millionths(int64_t millionths) {
  std::string text = fmt::format("{}.{:06}", millionths / kMillionth, millionths % kMillionth);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

const Unit* find_unit(std::string_view word) {
  for (const UnitWords& words : kUnits) {
    if (words.unit == Unit::seconds) continue;  // durations have their own words
    if (is_unit_word(word, words.plural) || (words.unit == Unit::epochs && word == "e"))
      return &words.unit;
  }
  return nullptr;
}

Reading<Amount> make_amount(Decimal number, int64_t factor, Unit unit) {
  if (number.mantissa == 0) return {std::nullopt, "must be more than 0"};
  const int64_t parts = unit == Unit::epochs ? kMillionth : unit == Unit::seconds ? 1000 : 1;
  Reading<int64_t> count =
      parts == 1 ? whole(number, factor) : scaled(number, factor * parts, "too fine a fraction");
  if (!count.value) return {std::nullopt, count.problem};
  return {Amount{.value = static_cast<double>(*count.value) / static_cast<double>(parts),
                 .unit = unit}};
}

Reading<Amount> amount_of_duration(std::string_view text) {
  const Reading<std::chrono::milliseconds> duration = read_duration(text);
  if (!duration.value) return {std::nullopt, duration.problem};
  return make_amount({.mantissa = duration.value->count(), .divisor = 1000}, 1, Unit::seconds);
}

Reading<Amount> read_amount_of_any_unit(std::string_view text, std::optional<Unit> bare) {
  QuantityScanner scanner(text);
  const Reading<Decimal> number = scanner.number();
  if (!number.value) return {std::nullopt, number.problem};
  QuantityScanner lookahead = scanner;
  if (find_scale(kDurationScales, lookahead.word())) return amount_of_duration(text);
  const Reading<Tail> tail = read_tail(scanner);
  if (!tail.value) return {std::nullopt, tail.problem};
  if (tail.value->word.empty()) {
    if (!bare) return {std::nullopt, "the unit is missing"};
    return make_amount(*number.value, tail.value->factor, *bare);
  }
  const Unit* unit = find_unit(tail.value->word);
  if (!unit) return {std::nullopt, unknown_unit(tail.value->word)};
  return make_amount(*number.value, tail.value->factor, *unit);
}

const UnitWords& words_of(Unit unit) {
  return *std::ranges::find_if(kUnits, [&](const UnitWords& words) { return words.unit == unit; });
}

}  // namespace

Reading<Amount> read_amount(std::string_view text, const AcceptedUnits& accepted) {
  Reading<Amount> amount = read_amount_of_any_unit(text, accepted.bare);
  if (amount.value && std::ranges::find(accepted.units, amount.value->unit) == accepted.units.end())
    return {std::nullopt,
            fmt::format("{} are not accepted here", words_of(amount.value->unit).plural)};
  return amount;
}

std::string print_amount(const Amount& amount) {
  if (amount.unit == Unit::seconds)
    return print_duration(std::chrono::milliseconds(std::llround(amount.value * 1000)));
  const std::string number = amount.unit == Unit::epochs
                                 ? print_millionths(std::llround(amount.value * kMillionth))
                                 : print_count(std::llround(amount.value));
  std::string_view word = words_of(amount.unit).plural;
  if (amount.value == 1) word.remove_suffix(1);
  return fmt::format("{} {}", number, word);
}

std::string amount_examples(const AcceptedUnits& accepted) {
  std::string text;
  for (size_t i = 0; i < accepted.units.size(); ++i) {
    if (i > 0) text += i + 1 == accepted.units.size() ? " or " : ", ";
    text += words_of(accepted.units[i]).example;
  }
  if (accepted.bare)
    text += fmt::format(" (a plain number means {})", words_of(*accepted.bare).plural);
  return text;
}

bool crossed(const Amount& period, double before, double after) {
  ODB_CHECK_LE(before, after);
  return std::floor(after / period.value) > std::floor(before / period.value);
}

Reading<std::chrono::milliseconds> read_duration(std::string_view text) {
  QuantityScanner scanner(text);
  int64_t total = 0;
  const Scale* last = nullptr;
  do {
    const Reading<Decimal> number = scanner.number();
    if (!number.value) return {std::nullopt, number.problem};
    const std::string_view name = scanner.word();
    if (name.empty()) return {std::nullopt, "the unit is missing"};
    const Scale* scale = find_scale(kDurationScales, name);
    if (!scale) return {std::nullopt, unknown_unit(name)};
    if (last && scale->factor >= last->factor)
      return {std::nullopt, fmt::format("'{}' cannot follow '{}'", name, last->name)};
    const Reading<int64_t> part = scaled(*number.value, scale->factor, "finer than 1ms");
    if (!part.value) return {std::nullopt, part.problem};
    total += *part.value;
    last = scale;
  } while (!scanner.at_end());
  if (total > kLargestAmount) return {std::nullopt, "too large"};
  return {std::chrono::milliseconds(total)};
}

std::string print_duration(std::chrono::milliseconds duration) {
  int64_t rest = duration.count();
  ODB_CHECK_GE(rest, 0);
  std::string text;
  for (const auto& [name, factor] : kDurationScales) {
    if (rest >= factor) text += fmt::format("{}{}", rest / factor, name);
    rest %= factor;
  }
  return text.empty() ? "0s" : text;
}

Reading<ByteSize> read_byte_size(std::string_view text) {
  QuantityScanner scanner(text);
  const Reading<Decimal> number = scanner.number();
  if (!number.value) return {std::nullopt, number.problem};
  const std::string_view name = scanner.word();
  if (!scanner.at_end()) return {std::nullopt, unknown_unit(scanner.rest())};
  if (name.empty()) return {std::nullopt, "the unit is missing"};
  const Scale* scale = find_scale(kByteScales, name);
  if (!scale) return {std::nullopt, unknown_unit(name)};
  const Reading<int64_t> bytes =
      scaled(*number.value, scale->factor, "not a whole number of bytes");
  if (!bytes.value) return {std::nullopt, bytes.problem};
  return {ByteSize{.bytes = *bytes.value}};
}

std::string print_byte_size(ByteSize size) {
  for (const auto& [name, factor] : kByteScales)
    if (size.bytes >= factor && size.bytes % factor == 0)
      return fmt::format("{}{}", size.bytes / factor, name);
  return fmt::format("{}B", size.bytes);
}

Reading<int64_t> read_count(std::string_view text, std::string_view unit) {
  QuantityScanner scanner(text);
  const Reading<Decimal> number = scanner.number();
  if (!number.value) return {std::nullopt, number.problem};
  const Reading<Tail> tail = read_tail(scanner);
  if (!tail.value) return {std::nullopt, tail.problem};
  const std::string_view word = tail.value->word;
  if (!word.empty() && !is_unit_word(word, unit)) return {std::nullopt, unknown_unit(word)};
  return whole(*number.value, tail.value->factor);
}

}  // namespace odb
