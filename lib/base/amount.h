// Quantities that people write with a unit: amounts of training (`3e`, `1.5M tokens`, `500
// samples`, `100 steps`, `30min`), durations (`1h30min`), sizes (`5GB`, `512MiB`) and plain counts
// (`64k`).
//
//   amount    NUMBER[k|M|B] UNIT    unit: e, epoch(s), sample(s), token(s), step(s), or a duration
//   duration  NUMBER(ms|s|min|h|d)...    larger units first, each at most once
//   size      NUMBER(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)
//   count     NUMBER[k|M|B] [UNIT]
//
// NUMBER is digits with an optional fraction, never signed, never with an exponent; k, M and B are
// thousand, million and billion (10^9). Spaces may stand between the parts. Values are exact: a
// fraction that does not give a whole count, millisecond or byte is refused, as is a value above
// 2^53 (kLargestAmount). The print functions give a text that reads back as the same value.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/reading.h"

namespace odb {

inline constexpr int64_t kLargestAmount = int64_t{1} << 53;

enum class Unit { epochs, samples, tokens, steps, seconds };

// How much training: always more than 0. Samples, tokens and steps are whole; epochs are multiples
// of a millionth, seconds of a thousandth.
struct Amount {
  double value = 1;
  Unit unit = Unit::steps;

  bool operator==(const Amount&) const = default;
};

// Which units an amount option accepts, and the unit of a number without one (none: the unit must
// be written).
struct AcceptedUnits {
  std::vector<Unit> units = {Unit::epochs, Unit::samples, Unit::tokens, Unit::steps, Unit::seconds};
  std::optional<Unit> bare = std::nullopt;
};

Reading<Amount> read_amount(std::string_view text, const AcceptedUnits& accepted = {});
std::string print_amount(const Amount& amount);
// "3e, 500 samples, 1.5M tokens, 100 steps or 30min": one example for each accepted unit.
std::string amount_examples(const AcceptedUnits& accepted);

// Whether a multiple of `period` lies in (before, after]; both count in the period's unit and
// before <= after. Counters that grow by more than one at a time never miss a period this way.
bool crossed(const Amount& period, double before, double after);

Reading<std::chrono::milliseconds> read_duration(std::string_view text);
std::string print_duration(std::chrono::milliseconds duration);

struct ByteSize {
  int64_t bytes = 0;

  auto operator<=>(const ByteSize&) const = default;
};

Reading<ByteSize> read_byte_size(std::string_view text);
std::string print_byte_size(ByteSize size);

// A count whose unit is known (`unit` "tokens": `64k` and `64k tokens` are the same; singular or
// plural). Without a unit name only the bare number is read.
Reading<int64_t> read_count(std::string_view text, std::string_view unit = "");

}  // namespace odb
