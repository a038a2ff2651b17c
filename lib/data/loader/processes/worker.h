// The loop of a data worker: requests in, samples out, in the order of the requests.
//
// A request leaves its ring only after its answer is published, so a killed worker loses nothing;
// at worst an answer comes twice, which collate recognizes by its number.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "data/loader/samples/build_view.h"
#include "data/loader/samples/sample_message.h"
#include "data/loader/samples/view_builder.h"
#include "data/loader/shared/loader_control.h"
#include "data/loader/shared/ring.h"
#include "data/loader/shared/wake_up.h"

namespace odb {

// Maximum requests that wait at a worker.
inline constexpr std::int64_t kRequestsPerWorker = 256;

// The two rings between collate and one worker.
struct WorkerRings {
  // For `requests` that wait at a time, and samples of at most `longest` tokens.
  WorkerRings(const std::string& name, std::int64_t requests, std::int64_t longest);

  Ring requests;
  Ring answers;
};

// Bytes of shared memory of a worker's rings when they are full.
std::size_t worker_ring_bytes(std::int64_t requests, std::int64_t longest);

class Worker {
 public:
  // All must outlive it. `generation` is the newest one of requests.
  Worker(WorkerRings& rings, BuilderState& state, const std::atomic<std::uint64_t>& generation,
         ViewBuilder& builder, const PreprocessingOptions& rules)
      : rings_(rings), state_(state), generation_(generation), builder_(builder), rules_(rules) {}

  // Answers requests until `stopped` holds, which every wait polls. Blocks.
  template <typename Stopped>
  void run(Stopped&& stopped) {
    const auto has_request = [this] { return !rings_.requests.empty(); };
    while (wait_for(rings_.requests.records(), has_request, stopped))
      while (has_request())
        if (!answer_front(stopped)) return;
  }

 private:
  template <typename Stopped>
  bool answer_front(Stopped&& stopped) {
    const SampleRequest request = read_request(rings_.requests.front());
    const auto outdated = [&] { return request.generation != generation_.load(); };
    const auto given_up = [&] {
      rings_.answers.flush();
      return outdated() || stopped();
    };
    if (!outdated() && !answer(request, given_up) && !outdated()) return false;
    rings_.requests.pop();
    flush_if_due();
    return true;
  }

  // False: given up.
  template <typename GivenUp>
  bool answer(const SampleRequest& request, GivenUp&& given_up) {
    if (!pause_for(pause_before(state_, request.view), given_up)) return false;
    const ViewAnswer answer = build_view(builder_, state_, rules_, request.view, sample_);
    const auto sent = [&] { return send(request, answer); };
    return wait_for(rings_.answers.room(), sent, given_up);
  }

  // False: no room now.
  bool send(const SampleRequest& request, const ViewAnswer& answer);
  void flush_if_due();

  WorkerRings& rings_;
  BuilderState& state_;
  const std::atomic<std::uint64_t>& generation_;
  ViewBuilder& builder_;
  PreprocessingOptions rules_;
  Sample sample_;
  std::size_t unflushed_bytes_ = 0;
  std::int64_t last_flush_ns_ = 0;
};

}  // namespace odb
