// Samples from data workers: request k goes to worker k mod n, answers are read in that order. So
// no reorder buffer is needed, and the order never depends on the speed of workers.
#pragma once

#include <atomic>
#include <deque>
#include <vector>

#include "data/loader/processes/worker.h"
#include "data/loader/samples/sample_stream.h"

namespace odb {

class WorkerSamples final : public SampleStream {
 public:
  // One pair of rings per worker, at least one. `generation` is the value that workers compare. All
  // must outlive the feed.
  WorkerSamples(std::deque<WorkerRings>& workers, std::atomic<std::uint64_t>& generation)
      : workers_(workers), generation_(generation) {}

  void restart() override;
  std::int64_t max_ahead() const override {
    return kRequestsPerWorker * static_cast<std::int64_t>(workers_.size());
  }
  bool request(const ViewRequest& view, const GivenUp& given_up) override;
  void flush_requests() override;
  std::optional<SampleView> next(const GivenUp& given_up) override;
  void done() override;

 private:
  std::size_t worker_of(std::int64_t number) const {
    return static_cast<std::size_t>(number) % workers_.size();
  }
  // The answer to request `answered_`, if it has come; drops older ones.
  std::optional<SampleView> find_answer(Ring& answers);

  std::deque<WorkerRings>& workers_;
  std::atomic<std::uint64_t>& generation_;
  std::int64_t requested_ = 0;
  std::int64_t answered_ = 0;
};

}  // namespace odb
