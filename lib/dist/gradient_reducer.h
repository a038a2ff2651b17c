// Averages gradients over ranks while the backward pass still runs: LibTorch's c10d::Reducer, as
// DistributedDataParallel uses it, for steps of several micro-steps and for ranks without data.
//
// Gradients are summed up locally over the micro-steps of a step; only the last one's backward
// reduces. Buckets depend on the parameters alone (their order of readiness is fixed in the
// constructor), so a resumed process reduces in the same layout and gives the same bits.
//
//   reducer.zero_gradients();
//   for each micro-step but the last:  loss.backward();          // or nothing, when idle
//   last one:  reducer.prepare(loss);  loss.backward();          // or reduce_without_data()
//   // every gradient: the mean over ranks of each rank's sum over its micro-steps
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <torch/types.h>

namespace odb {

class TrainingGroups;

class GradientReducer {
 public:
  static constexpr std::int64_t kBucketBytes = std::int64_t{25} << 20;

  // Collective: runs one backward of zeros and fixes the buckets. `parameters`: leaves that require
  // gradients, dense, on the groups' device, the same on all ranks in the same order; none twice.
  // Their gradients become views of the reducer's buckets and are zero afterwards; they must never
  // be replaced or set to undefined (no Optimizer::zero_grad). One reducer for a parameter at a
  // time. `groups` must outlive it. PeerLostError.
  GradientReducer(TrainingGroups& groups, std::vector<torch::Tensor> parameters,
                  std::int64_t bucket_bytes = kBucketBytes);
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;
  // Removes its hooks from the parameters; the gradients stay.
  ~GradientReducer();

  // All gradients to zero, in place. Local.
  void zero_gradients();

  // Between the forward and the backward pass of the last micro-step of a step: its backward
  // reduces, and returns when all is reduced. Parameters that `loss` does not depend on count as
  // zero in this micro-step. Wrap that backward in as_peer_loss(): it blocks until all ranks join.
  void prepare(const torch::Tensor& loss);

  // Instead of prepare() and backward, for a rank without data or supervised tokens in the last
  // micro-step: runs a backward of zeros on the parameters themselves. Earlier accumulated
  // gradients are reduced too. Collective. PeerLostError.
  void reduce_without_data();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace odb
