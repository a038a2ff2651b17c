// Group "length": when a run ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/options/table.h"

namespace odb {

// The first limit reached ends the run.
struct LengthOptions {
  std::optional<double> epochs;  // 1 if there is no other limit but the time limit
  std::optional<std::int64_t> max_steps;
  std::optional<std::int64_t> max_samples;
  std::optional<std::int64_t> max_tokens;  // real ones, over all ranks
  // Of this process life: save and leave with ExitCode::saved. Not a length: the learning rate does
  // not depend on it.
  std::optional<std::chrono::milliseconds> time_limit;
};

void describe(OptionTable& table, LengthOptions& options);

// How long a run is; at least one limit. The first one reached ends it.
struct RunLimits {
  std::int64_t data_size = 0;         // N, views of an epoch; at least 1
  std::optional<std::int64_t> views;  // of all epochs together: epochs x N
  std::optional<std::int64_t> steps;
  std::optional<std::int64_t> samples;
  std::optional<std::int64_t> tokens;
};

// One epoch if the options give no limit. A fraction of an epoch is rounded to whole views, at
// least one.
RunLimits run_limits(const LengthOptions& options, std::int64_t data_size);

}  // namespace odb
