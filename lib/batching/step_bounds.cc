#include "batching/step_bounds.h"

#include "base/error.h"

namespace odb {

bool count_slot(const BatchingOptions& options, const SlotTotals& totals, OpenStep& step) {
  ++step.micro_steps;
  step.tokens += totals.tokens;
  step.samples += totals.samples;
  ODB_CHECK(options.accumulate || options.global_batch_tokens || options.global_batch_samples,
            "no step length: resolve() was not called");
  const bool last = (options.accumulate && step.micro_steps >= *options.accumulate) ||
                    (options.global_batch_tokens && step.tokens >= *options.global_batch_tokens) ||
                    (options.global_batch_samples && step.samples >= *options.global_batch_samples);
  if (last) step = {};
  return last;
}

std::int64_t accumulate_on_other_world(std::int64_t accumulate, int old_world, int new_world,
                                       std::int64_t tokens_per_step) {
  const std::int64_t groups = accumulate * old_world;
  if (groups % new_world == 0) return groups / new_world;
  throw UsageError(
      "--accumulate {} on {} ranks made steps of {} groups, which {} ranks cannot share evenly; "
      "continue with --global-batch-tokens {} instead (the mean so far)",
      accumulate, old_world, groups, new_world, tokens_per_step);
}

}  // namespace odb
