#include "batching/loss_weights.h"

#include "base/error.h"

namespace odb {

double token_weight(LossNorm norm, std::int64_t row_supervised, std::int64_t group_supervised) {
  ODB_CHECK(row_supervised > 0 && row_supervised <= group_supervised,
            "a row with {} of its group's {} supervised tokens", row_supervised, group_supervised);
  switch (norm) {
    case LossNorm::token:
      return 1;
    case LossNorm::sample:
      return 1 / static_cast<double>(row_supervised);
    case LossNorm::rank_mean:
      return 1 / static_cast<double>(group_supervised);
  }
  throw InternalError("loss norm {} has no weight", static_cast<int>(norm));
}

std::int64_t loss_denominator(LossNorm norm, const SlotTotals& step) {
  switch (norm) {
    case LossNorm::token:
      return step.supervised;
    case LossNorm::sample:
      return step.samples;
    case LossNorm::rank_mean:
      return step.supervised_groups;
  }
  throw InternalError("loss norm {} has no denominator", static_cast<int>(norm));
}

double gradient_scale(LossNorm norm, const SlotTotals& step, int world) {
  const std::int64_t denominator = loss_denominator(norm, step);
  return denominator == 0 ? 0 : static_cast<double>(world) / static_cast<double>(denominator);
}

}  // namespace odb
