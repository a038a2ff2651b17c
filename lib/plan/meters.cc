#include "plan/meters.h"

#include <algorithm>
#include <cmath>

namespace odb {

SlotMeters::SlotMeters(const CostModel& model, const StepTime& step_time, std::int64_t l_max,
                       int world)
    : model_(model),
      step_time_(step_time),
      l_max_(static_cast<double>(l_max)),
      world_(static_cast<double>(world)) {}

void SlotMeters::begin_round(std::size_t slots, bool tail) {
  tail_ = tail;
  slowest_.assign(slots, 0);
  round_.assign(slots, {});
}

void SlotMeters::add(const std::vector<Slot>& slots_of_rank) {
  for (std::size_t i = 0; i < slots_of_rank.size(); ++i) {
    const Slot& slot = slots_of_rank[i];
    if (slot.kind != SlotKind::data) continue;
    const GroupSums& sums = slot.group.sums;
    const std::int64_t positions = model_.charged(sums);
    const double compute = step_time_.compute_seconds(model_, sums);
    slowest_[i] = std::max(slowest_[i], compute);
    round_[i].compute += compute;
    ++round_[i].groups;
    round_[i].tokens += sums.tokens;
    round_[i].samples += sums.rows;

    ++sums_.groups;
    sums_.positions += positions;
    sums_.largest_group = std::max(sums_.largest_group, positions);
    if (!tail_) {
      ++groups_before_tail_;
      positions_before_tail_ += positions;
    }
    // Welford's update: stable, and keeps no groups.
    const double count = static_cast<double>(sums_.groups);
    const double from_place = static_cast<double>(slot.number) - mean_place_;
    const double length = static_cast<double>(sums.tokens) / static_cast<double>(sums.rows);
    const double from_length = length - mean_group_length_;
    mean_place_ += from_place / count;
    mean_group_length_ += from_length / count;
    const double weight = (count - 1) / count;
    place_squares_ += weight * from_place * from_place;
    length_squares_ += weight * from_length * from_length;
    products_ += weight * from_place * from_length;
  }
}

const std::vector<double>& SlotMeters::end_round() {
  for (std::size_t i = 0; i < round_.size(); ++i) {
    const SlotSums& slot = round_[i];
    const auto with_data = static_cast<double>(slot.groups);
    straggler_seconds_ += with_data * slowest_[i] - slot.compute;
    idle_seconds_ += (world_ - with_data) * slowest_[i];
    rank_seconds_ += world_ * slowest_[i];
    sums_.tokens += slot.tokens;
    sums_.samples += slot.samples;
    steps_.push_back({.tokens = slot.tokens, .samples = slot.samples});
    if (tail_) ++sums_.tail_steps;
  }
  return slowest_;
}

double SlotMeters::mean_length_between(double begin, double end) const {
  const auto place = [&](double share) {
    return static_cast<std::size_t>(std::llround(share * static_cast<double>(steps_.size())));
  };
  std::int64_t tokens = 0;
  std::int64_t samples = 0;
  for (std::size_t i = place(begin); i < place(end); ++i) {
    tokens += steps_[i].tokens;
    samples += steps_[i].samples;
  }
  return samples == 0 ? 0 : static_cast<double>(tokens) / static_cast<double>(samples);
}

SimulationResult SlotMeters::result() const {
  SimulationResult result = sums_;
  result.steps = static_cast<std::int64_t>(steps_.size());
  const auto steps = static_cast<double>(result.steps);
  const auto groups = static_cast<double>(result.groups);
  const auto positions = static_cast<double>(result.positions);
  result.padding_fraction = 1 - ratio(static_cast<double>(result.tokens), positions);
  result.budget_fill = ratio(positions, groups * l_max_);
  result.budget_fill_before_tail = ratio(static_cast<double>(positions_before_tail_),
                                         static_cast<double>(groups_before_tail_) * l_max_);
  result.idle_fraction = 1 - ratio(groups, steps * world_);
  result.straggler_fraction = ratio(straggler_seconds_, rank_seconds_);
  result.idle_time_fraction = ratio(idle_seconds_, rank_seconds_);

  const double mean_tokens = ratio(static_cast<double>(result.tokens), steps);
  double squares = 0;
  for (const StepContent& step : steps_)
    squares += std::pow(static_cast<double>(step.tokens) - mean_tokens, 2);
  result.tokens_per_step_cv = ratio(std::sqrt(ratio(squares, steps)), mean_tokens);
  result.mean_length = mean_length_between(0, 1);
  result.length_bias = ratio(products_, std::sqrt(place_squares_ * length_squares_));
  result.first_tenth_length = mean_length_between(0, 0.1);
  result.last_tenth_length = mean_length_between(0.9, 1);
  return result;
}

}  // namespace odb
