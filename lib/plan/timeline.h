// When slots are ready and when they are trained. Models the collate and trainer processes of all
// ranks as clocks, in seconds from the start of the epoch.
//
// Workers of a rank prepare samples one after another, at most kSamplesAhead beyond what collate
// took. A round begins on a rank when the slots of the round before are published; it is agreed
// when the slowest rank has its samples. A slot is published when it is agreed and the slot --depth
// before it was trained, and trained when the slot before it was. Preparing takes the same time for
// every sample, so depth only has to cover the burst of samples that a round requests.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace odb {

struct PipelineModel {
  std::int64_t depth = 8;              // finished slots kept ready per rank
  std::int64_t workers = 2;            // data workers of a rank
  double seconds_per_sample = 0.5e-3;  // of one worker
};

class Timeline {
 public:
  // Maximum number of samples that the workers of a rank hold ready.
  static constexpr double kSamplesAhead = 128;

  Timeline(const PipelineModel& model, int world, double alignment_seconds);

  // A round in which rank r draws drawn[r] samples.
  void round(std::span<const std::int64_t> drawn);
  // The next slot of the round, which all ranks train in `seconds`.
  void slot(double seconds);

  double seconds() const { return trained_; }  // end of the last slot
  double waited() const { return waited_; }    // of that, trainers waited for a slot

 private:
  double rate_;  // samples a second of a rank
  double alignment_seconds_;
  std::size_t depth_;
  // Per rank, at time filled_to_. Below 0: samples that it lacks and takes as they are made.
  std::vector<double> ready_samples_;
  double filled_to_ = 0;
  double agreed_ = 0;
  double published_ = 0;             // the newest slot
  std::deque<double> last_trained_;  // ends of the last `depth` slots
  double trained_ = 0;
  double waited_ = 0;
};

}  // namespace odb
