#include "train/step/run_length.h"

#include <algorithm>
#include <cmath>

#include "base/amount.h"
#include "base/error.h"

namespace odb {

void describe(OptionTable& table, LengthOptions& options) {
  table.group("length");
  table.add("epochs", options.epochs)
      .unit("epochs")
      .above(0)
      .at_most(1e6)
      .default_note("1 if no other limit is given")
      .help("passes over the data; a part such as 0.5 is permitted");
  table.add("max-steps", options.max_steps)
      .unit("steps")
      .at_least(1)
      .help("the run ends after this many optimizer steps");
  table.add("max-samples", options.max_samples)
      .unit("samples")
      .at_least(1)
      .help("the run ends with the step that reaches this many trained samples, over all ranks");
  table.add("max-tokens", options.max_tokens)
      .unit("tokens")
      .at_least(1)
      .help(
          "the run ends with the step that reaches this many trained real tokens, over all ranks");
  table.add("time-limit", options.time_limit)
      .above(std::chrono::milliseconds(0))
      .help("save and exit with code 75 after this time; the learning rate does not depend on it");
}

RunLimits run_limits(const LengthOptions& options, std::int64_t data_size) {
  ODB_CHECK_GE(data_size, 1);
  RunLimits limits{.data_size = data_size,
                   .views = {},
                   .steps = options.max_steps,
                   .samples = options.max_samples,
                   .tokens = options.max_tokens};
  const bool other = options.max_steps || options.max_samples || options.max_tokens;
  if (!options.epochs && other) return limits;
  const double views = options.epochs.value_or(1) * static_cast<double>(data_size);
  if (views > static_cast<double>(kLargestAmount))
    throw UsageError("--epochs {} of {} samples are more than {} views; expected fewer epochs",
                     *options.epochs, data_size, kLargestAmount);
  limits.views = std::max<std::int64_t>(1, std::llround(views));
  return limits;
}

}  // namespace odb
