// One optimizer step over the micro-steps of all ranks, exact to the token: the gradient is that of
// (sum of weighted token losses over all ranks and micro-steps) / (what counts of the step over all
// ranks). Backward passes run on plain sums; the reducer averages over W ranks; the one factor
// W / total is folded into clipping (batching/loss_weights.h).
//
// Every number of an update is the same on all ranks, whatever their machines: totals are sums over
// all ranks; the gradient's norm and the learning rate, which depend in their last bits on threads,
// processor and libm, are rank 0's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <torch/types.h>

#include "batching/options.h"
#include "batching/slot.h"
#include "dist/gradient_reducer.h"
#include "dist/training_groups.h"
#include "model/trainable_model.h"
#include "train/step/micro_batch.h"
#include "train/step/optimizer.h"

namespace odb {

// The weighted loss sums of a micro-batch whose tokens have arrived: the model, whichever it is.
using LossFunction = std::function<LossParts(const MicroBatch&)>;
LossFunction loss_of(TrainableModel& model);
// The sum over the parts. InternalError: the parts do not count `supervised` units each.
torch::Tensor sum_of(const LossParts& parts, std::int64_t supervised);

struct TrainingStepOptions {
  LossNorm loss_norm = LossNorm::token;
  double max_grad_norm = 1;  // 0: no clipping
};

struct StepUpdate {
  bool finite = true;        // the gradient's norm; if not, nothing was updated
  bool updated = false;      // false too when no rank had anything to learn from
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;  // that the update was computed with
};

class TrainingStep {
 public:
  virtual ~TrainingStep() = default;

  // The forward pass of a micro-step. `batch` is null for a rank without data.
  virtual void forward(const MicroBatch* batch) = 0;
  // Whether loss_sum() would return without waiting: always on the CPU.
  virtual bool loss_is_ready() const = 0;
  // This rank's loss sum of that micro-step. On a GPU it waits for the forward pass, not for work
  // that was enqueued later.
  virtual double loss_sum() = 0;
  // The backward pass of that micro-step. In the last micro-step of a step it reduces over ranks,
  // and is collective. PeerLostError.
  virtual void backward(bool last_of_step) = 0;

  // After the last micro-step: the update, unless the gradient is not finite. `totals` of the whole
  // step. Gradients are zero afterwards. The result is equal on all ranks; an update is computed
  // with rank 0's `learning_rate`. Collective; may run while a vote is in progress. Blocks without
  // limit until rank 0 calls it. PeerLostError.
  virtual StepUpdate update(const SlotTotals& totals, double learning_rate) = 0;
  // Drops what the open step has gathered.
  virtual void drop() = 0;
};

// The step of a model and its optimizer over the ranks of a run.
class DistributedStep final : public TrainingStep {
 public:
  // All must outlive it. `parameters`: those that the reducer has.
  DistributedStep(LossFunction loss, const std::map<std::string, torch::Tensor>& parameters,
                  TrainingGroups& groups, GradientReducer& reducer, Optimizer& optimizer,
                  const TrainingStepOptions& options);

  void forward(const MicroBatch* batch) override;
  bool loss_is_ready() const override { return !copied_; }
  double loss_sum() override;
  void backward(bool last_of_step) override;
  StepUpdate update(const SlotTotals& totals, double learning_rate) override;
  void drop() override;

 private:
  double norm_of_gradients(double scale) const;

  LossFunction loss_;
  std::vector<torch::Tensor> parameters_;
  TrainingGroups& groups_;
  GradientReducer& reducer_;
  Optimizer& optimizer_;
  TrainingStepOptions options_;
  torch::Tensor sum_;       // of the micro-step under way; undefined: nothing to learn from
  torch::Tensor host_sum_;  // its copy on the CPU
  std::optional<c10::Event> copied_;
};

}  // namespace odb
