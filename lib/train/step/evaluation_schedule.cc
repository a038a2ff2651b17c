#include "train/step/evaluation_schedule.h"

#include <cmath>

#include "base/error.h"

namespace odb {

bool is_due(const std::optional<Amount>& period, const RunTotals& before, const RunTotals& after,
            std::int64_t data_size) {
  return period && crossed(*period, count_in(period->unit, before, data_size),
                           count_in(period->unit, after, data_size));
}

bool evaluation_due(const EvaluationOptions& options, const RunTotals& before,
                    const Progress& after, std::optional<std::int64_t> last_evaluated_step) {
  const RunTotals& now = after.totals();
  if (options.eval_data.empty() || last_evaluated_step == now.steps) return false;
  if (after.done()) return true;
  if (!options.eval_every) return now.epoch > before.epoch;
  return is_due(options.eval_every, before, now, after.limits().data_size);
}

std::optional<BestEvaluation> better(const std::optional<BestEvaluation>& best,
                                     const BestEvaluation& now) {
  if (!std::isfinite(now.loss)) return best;
  return best && best->loss <= now.loss ? best : now;
}

void describe(OptionTable& table, EvaluationOptions& options) {
  table.group("evaluation");
  table.add("eval-data", options.eval_data).help("file of samples to evaluate on, as for --data");
  table.add("eval-every", options.eval_every)
      .units({.units = {Unit::epochs, Unit::samples, Unit::tokens, Unit::steps}, .bare = {}})
      .default_note("at the end of each epoch")
      .help("how often to evaluate");
  table.add("eval-at-start", options.eval_at_start).help("on evaluates before the first step, too");
  table.validate([&options] {
    if (options.eval_data.empty() && (options.eval_every || options.eval_at_start))
      throw UsageError("--{} without --eval-data; name the file to evaluate on",
                       options.eval_every ? "eval-every" : "eval-at-start");
  });
}

}  // namespace odb
