#include "train/replica.h"

#include "dist/replicas.h"
#include "model/init.h"
#include "model/weights_io.h"

namespace odb {

Replica::Replica(FileSystem& files, const TrainingInputs& inputs, torch::Device device,
                 TrainingGroups& groups)
    : groups_(groups),
      world_(inputs.launch.world),
      model_(inputs.config,
             ComputeOptions{.dtype = inputs.options.model.dtype,
                            .recompute = inputs.options.model.recompute},
             device) {
  const ModelOptions& options = inputs.options.model;
  if (options.init == Initialization::random) {
    initialize_weights(model_, inputs.options.loader.seed);
  } else if (inputs.launch.rank == 0) {
    load_weights(files, options.model, model_);
    require_finite(model_, options.model);
  }
  if (world_ > 1) broadcast_from_first(groups_, model_.parameters());
  check_equal("at the start");
  reducer_.emplace(groups_, model_.parameters());
  optimizer_.emplace(inputs.options.optimizer, model_.weights());
}

void Replica::check_equal(const std::string& when) const {
  if (world_ > 1) check_replicas_equal(groups_, model_.parameters(), when);
}

}  // namespace odb
