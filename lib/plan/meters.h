// Running sums over the slots of an epoch. Does not keep the slots.
#pragma once

#include <cstdint>
#include <vector>

#include "batching/slot.h"
#include "plan/simulation.h"

namespace odb {

// part / whole; 0 if `whole` is 0.
inline double ratio(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

class SlotMeters {
 public:
  SlotMeters(const CostModel& model, const StepTime& step_time, std::int64_t l_max, int world);

  // A round: begin_round(), add() once per rank, end_round().
  void begin_round(std::size_t slots, bool tail);
  void add(const std::vector<Slot>& slots_of_rank);
  // Returns the compute seconds of each slot's slowest rank.
  const std::vector<double>& end_round();

  // All results that follow from slots. The caller fills in rounds, seconds and waits.
  SimulationResult result() const;

 private:
  // Sums of one slot of the round over all ranks.
  struct SlotSums {
    double compute = 0;  // seconds, all ranks with data
    std::int64_t groups = 0;
    std::int64_t tokens = 0;
    std::int64_t samples = 0;
  };
  struct StepContent {
    std::int64_t tokens;
    std::int64_t samples;
  };

  double mean_length_between(double begin, double end) const;

  CostModel model_;
  StepTime step_time_;
  double l_max_;
  double world_;
  bool tail_ = false;
  std::vector<double> slowest_;  // compute seconds by slot of the round
  std::vector<SlotSums> round_;

  SimulationResult sums_;           // the counts so far
  std::vector<StepContent> steps_;  // over all ranks
  std::int64_t groups_before_tail_ = 0;
  std::int64_t positions_before_tail_ = 0;
  double rank_seconds_ = 0;       // world x slowest
  double straggler_seconds_ = 0;  // of ranks with data
  double idle_seconds_ = 0;       // of ranks without

  // Moments of (slot number, mean length) over groups.
  double mean_place_ = 0;
  double mean_group_length_ = 0;
  double place_squares_ = 0;
  double length_squares_ = 0;
  double products_ = 0;
};

}  // namespace odb
