// A model of the time of a slot with few parameters. It compares strategies; it does not predict
// the time of a real machine.
//
//   compute of a rank = a + b * positions + c * sum(length^2)        0 when it is idle
//   a slot            = slowest rank + what the all-reduce takes beyond the backward pass
//
// Positions are what the device computes: real tokens in the flat layout; in the padded layout
// every row at the padded length of the longest. All ranks wait for the slowest, because each step
// ends in an all-reduce. The all-reduce overlaps the backward pass (two thirds of the compute
// time), so only its excess counts. Its time is that of a ring: 2 (W-1)/W of the gradient's bytes
// through one rank's link, and 2 log2(W) times the latency.
#pragma once

#include "batching/group.h"

namespace odb {

struct StepTime {
  double seconds_per_slot = 5e-3;       // a
  double seconds_per_position = 1e-6;   // b
  double seconds_per_square = 2.7e-11;  // c
  double gradient_bytes = 1.2e9;        // 600 million parameters in bf16
  double link_bytes_per_second = 200e9;
  double latency_seconds = 20e-6;

  // c / b: the q of CostModel under which cost is compute time.
  double quadratic_cost() const { return seconds_per_square / seconds_per_position; }

  double compute_seconds(const CostModel& model, const GroupSums& sums) const;
  double all_reduce_seconds(int world) const;
  // Of a slot whose slowest rank computes for `slowest_compute` seconds.
  double slot_seconds(double slowest_compute, int world) const;
  // The two small all-reduces of an alignment.
  double alignment_seconds(int world) const;
};

}  // namespace odb
