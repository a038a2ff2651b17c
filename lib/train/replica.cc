#include "train/replica.h"

#include <utility>

#include <fmt/format.h>

#include "dist/replicas.h"
#include "train/output/optimizer_file.h"

namespace odb {

Replica::Replica(FileSystem& files, const TrainingInputs& inputs, torch::Device device,
                 TrainingGroups& groups, const std::string& checkpoint)
    : groups_(groups),
      world_(inputs.launch.world),
      model_(make_model(inputs.config, inputs.options.model, device)),
      trained_(trainable_weights(*model_)) {
  const ModelOptions& options = inputs.options.model;
  if (options.init == Initialization::random && checkpoint.empty())
    model_->initialize(inputs.options.loader.seed);
  else if (inputs.launch.rank == 0)
    model_->load(files, checkpoint.empty() ? options.model : checkpoint);
  if (world_ > 1) broadcast_from_first(groups_, all_tensors(*model_));
  check_equal("at the start");
  reducer_.emplace(groups_, trainable_tensors(*model_));
  optimizer_.emplace(inputs.options.optimizer, trained_);
  if (checkpoint.empty()) return;
  const OptimizerState state = read_optimizer_state(files, join_path(checkpoint, "optimizer"));
  optimizer_->load(state.tensors, state.updates);
}

void Replica::check_equal(const std::string& when) const {
  if (world_ > 1) check_replicas_equal(groups_, all_tensors(*model_), when);
}

bool ReplicaCheck::between_steps(const Progress& progress) {
  const std::int64_t step = progress.totals().steps;
  const bool is_new = std::exchange(last_step_, step) != step;
  if (every_ > 0 && is_new && step % every_ == 0)
    replica_.check_equal(fmt::format("after step {}", step));
  return true;
}

}  // namespace odb
