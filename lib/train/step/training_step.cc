#include "train/step/training_step.h"

#include <cmath>
#include <utility>

#include <c10/core/impl/VirtualGuardImpl.h>

#include "batching/loss_weights.h"
#include "dist/peer_loss.h"
#include "dist/sums.h"
#include "train/step/gradient_norm.h"

namespace odb {

LossFunction loss_of(TrainableModel& model) {
  return [&model](const MicroBatch& batch) { return model.loss(batch); };
}

torch::Tensor sum_of(const LossParts& parts, std::int64_t supervised) {
  ODB_CHECK(!parts.empty(), "a loss without parts");
  torch::Tensor sum;
  for (const LossPart& part : parts) {
    ODB_CHECK(part.count == supervised, "loss part {} is over {} units, its micro-batch has {}",
              part.name, part.count, supervised);
    sum = sum.defined() ? sum + part.sum : part.sum;
  }
  return sum;
}

DistributedStep::DistributedStep(LossFunction loss,
                                 const std::map<std::string, torch::Tensor>& parameters,
                                 TrainingGroups& groups, GradientReducer& reducer,
                                 Optimizer& optimizer, const TrainingStepOptions& options)
    : loss_(std::move(loss)),
      groups_(groups),
      reducer_(reducer),
      optimizer_(optimizer),
      options_(options) {
  for (const auto& [name, parameter] : parameters)
    parameters_.push_back(parameter);
}

void DistributedStep::forward(const MicroBatch* batch) {
  sum_ = torch::Tensor();
  host_sum_ = torch::Tensor();
  if (batch == nullptr || batch->supervised == 0) return;
  await_tokens(*batch);
  sum_ = sum_of(loss_(*batch), batch->supervised);
  const torch::Tensor value = sum_.detach();
  host_sum_ = value;
  if (value.device().is_cpu()) return;
  host_sum_ = torch::empty({}, value.options().device(torch::kCPU).pinned_memory(true));
  host_sum_.copy_(value, /*non_blocking=*/true);
  const c10::impl::VirtualGuardImpl device(value.device().type());
  copied_.emplace(value.device().type());
  copied_->record(device.getStream(value.device()));
}

double DistributedStep::loss_sum() {
  if (!host_sum_.defined()) return 0;
  if (copied_) std::exchange(copied_, std::nullopt)->synchronize();
  return host_sum_.item<double>();
}

void DistributedStep::backward(bool last_of_step) {
  const torch::Tensor sum = std::exchange(sum_, torch::Tensor());
  if (!sum.defined()) {
    if (last_of_step) reducer_.reduce_without_data();
    return;
  }
  if (last_of_step) reducer_.prepare(sum);
  as_peer_loss([&] { sum.backward(); });
}

double DistributedStep::norm_of_gradients(double scale) const {
  std::vector<torch::Tensor> gradients;
  gradients.reserve(parameters_.size());
  for (const torch::Tensor& parameter : parameters_)
    gradients.push_back(parameter.grad());
  return scale * gradient_norm(gradients);
}

StepUpdate DistributedStep::update(const SlotTotals& totals, double learning_rate) {
  StepUpdate result{.learning_rate = learning_rate};
  const double scale = gradient_scale(options_.loss_norm, totals, groups_.world());
  if (scale > 0) {
    const double norm = groups_.rank() == 0 ? norm_of_gradients(scale) : 0;
    const std::vector<double> shared = values_of_rank_0(groups_, {norm, learning_rate});
    result.gradient_norm = shared[0];
    result.learning_rate = shared[1];
    result.finite = std::isfinite(result.gradient_norm);
    if (result.finite) {
      optimizer_.step(result.learning_rate,
                      scale * clip_factor(result.gradient_norm, options_.max_grad_norm));
      result.updated = true;
    }
  }
  reducer_.zero_gradients();
  return result;
}

void DistributedStep::drop() {
  sum_ = torch::Tensor();
  reducer_.zero_gradients();
}

}  // namespace odb
