#include "plan/step_time.h"

#include <algorithm>
#include <cmath>

namespace odb {
namespace {

constexpr double kBackwardShare = 2.0 / 3;

}  // namespace

double StepTime::compute_seconds(const CostModel& model, const GroupSums& sums) const {
  const auto positions = static_cast<double>(model.charged(sums));
  const double squares = model.layout == Layout::flat
                             ? static_cast<double>(sums.squares)
                             : positions * static_cast<double>(model.row_length(sums.longest));
  return seconds_per_slot + seconds_per_position * positions + seconds_per_square * squares;
}

double StepTime::all_reduce_seconds(int world) const {
  if (world < 2) return 0;
  return 2.0 * (world - 1) / world * gradient_bytes / link_bytes_per_second +
         2 * std::log2(world) * latency_seconds;
}

double StepTime::slot_seconds(double slowest_compute, int world) const {
  const double hidden = slowest_compute * kBackwardShare;
  return slowest_compute + std::max(0.0, all_reduce_seconds(world) - hidden);
}

double StepTime::alignment_seconds(int world) const {
  return world < 2 ? 0 : 2 * 2 * std::log2(world) * latency_seconds;
}

}  // namespace odb
