// What a rank trains: its replica of the model, with the optimizer and the reduction of gradients.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <torch/types.h>

#include "base/files.h"
#include "dist/gradient_reducer.h"
#include "dist/training_groups.h"
#include "model/trainable_model.h"
#include "train/step/optimizer.h"
#include "train/step/step_observer.h"
#include "train/training_inputs.h"

namespace odb {

class Replica {
 public:
  // Rank 0 loads or draws the weights; the others get its values. `checkpoint`: where weights and
  // optimizer state come from instead; empty: a new run. Collective; `groups` must outlive it.
  // FileError: a weight that is missing or not finite. PeerLostError.
  Replica(FileSystem& files, const TrainingInputs& inputs, torch::Device device,
          TrainingGroups& groups, const std::string& checkpoint);

  TrainableModel& model() { return *model_; }
  // The parameters that are trained, by name.
  const Weights& trained() const { return trained_; }
  Optimizer& optimizer() { return *optimizer_; }
  GradientReducer& reducer() { return *reducer_; }

  // Checks that all ranks have equal weights, bit for bit. Collective; nothing to do for one rank.
  // `when` is for the message: "after step 120". InternalError. PeerLostError.
  void check_equal(const std::string& when) const;

 private:
  TrainingGroups& groups_;
  int world_;
  std::unique_ptr<TrainableModel> model_;
  Weights trained_;
  std::optional<GradientReducer> reducer_;
  std::optional<Optimizer> optimizer_;
};

// Compares the weights of all ranks every `every` steps; 0: never.
class ReplicaCheck final : public StepObserver {
 public:
  ReplicaCheck(const Replica& replica, std::int64_t every) : replica_(replica), every_(every) {}

  bool between_steps(const Progress& progress) override;

 private:
  const Replica& replica_;
  std::int64_t every_;
  std::int64_t last_step_ = 0;  // at the last boundary
};

}  // namespace odb
