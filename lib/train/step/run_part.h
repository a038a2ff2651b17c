// A part of a run, as users give it: a share of its whole length (`0.03`) or an amount (`100
// steps`, `1M tokens`). Warm-up and decay are such parts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/amount.h"
#include "base/options/value.h"
#include "base/reading.h"

namespace odb {

struct RunPart {
  double share = 0;              // 0..1; ignored if there is an amount
  std::optional<Amount> amount;  // epochs, samples, tokens or steps

  bool none() const { return !amount && share == 0; }
  friend bool operator==(const RunPart&, const RunPart&) = default;
};

// A plain number is a share, 0..1; with a unit it is an amount. Durations are refused, because
// ranks do not agree on time.
Reading<RunPart> read_run_part(std::string_view text);
std::string print_run_part(const RunPart& part);

template <>
struct OptionType<RunPart> {
  static constexpr OptionKind kKind = OptionKind::text;
  static constexpr const char* kForm =
      "a share of the run from 0 to 1, or an amount: 3e, 500 samples, 1.5M tokens or 100 steps";
  static constexpr const char* kPlaceholder = "PART";
  static constexpr bool kBareNumber = true;
  static Reading<RunPart> read(std::string_view text, const OptionRules<RunPart>&) {
    return read_run_part(text);
  }
  static std::string print(const RunPart& part, const OptionRules<RunPart>&) {
    return print_run_part(part);
  }
};

}  // namespace odb
