#include "plan/timeline.h"

#include <algorithm>

#include "base/error.h"

namespace odb {

Timeline::Timeline(const PipelineModel& model, int world, double alignment_seconds)
    : rate_(static_cast<double>(model.workers) / model.seconds_per_sample),
      alignment_seconds_(alignment_seconds),
      depth_(static_cast<std::size_t>(model.depth)),
      ready_samples_(static_cast<std::size_t>(world)) {
  ODB_CHECK(model.depth >= 1 && model.workers >= 1 && model.seconds_per_sample > 0,
            "depth {}, {} workers, {} s a sample", model.depth, model.workers,
            model.seconds_per_sample);
}

void Timeline::round(std::span<const std::int64_t> drawn) {
  ODB_CHECK_EQ(drawn.size(), ready_samples_.size());
  const double begin = published_;
  double slowest = 0;  // seconds that the slowest rank waits for samples
  for (std::size_t rank = 0; rank < drawn.size(); ++rank) {
    double& ready = ready_samples_[rank];
    ready = std::min(kSamplesAhead, ready + (begin - filled_to_) * rate_);
    ready -= static_cast<double>(drawn[rank]);
    slowest = std::max(slowest, -ready / rate_);
  }
  filled_to_ = begin;
  agreed_ = begin + slowest + alignment_seconds_;
}

void Timeline::slot(double seconds) {
  double free_since = 0;
  if (last_trained_.size() == depth_) {
    free_since = last_trained_.front();
    last_trained_.pop_front();
  }
  published_ = std::max(agreed_, free_since);
  const double begin = std::max(trained_, published_);
  waited_ += begin - trained_;
  trained_ = begin + seconds;
  last_trained_.push_back(trained_);
}

}  // namespace odb
