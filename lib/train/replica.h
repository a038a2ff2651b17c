// What a rank trains: its replica of the model, with the optimizer and the reduction of gradients.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <torch/types.h>

#include "base/files.h"
#include "dist/gradient_reducer.h"
#include "dist/training_groups.h"
#include "model/language_model.h"
#include "train/step/optimizer.h"
#include "train/training_inputs.h"

namespace odb {

class Replica {
 public:
  // Rank 0 loads or draws the weights; the others get its values. Collective; `groups` must outlive
  // it. FileError: a weight that is missing or not finite. PeerLostError.
  Replica(FileSystem& files, const TrainingInputs& inputs, torch::Device device,
          TrainingGroups& groups);

  LanguageModel& model() { return model_; }
  Optimizer& optimizer() { return *optimizer_; }
  GradientReducer& reducer() { return *reducer_; }

  // Checks that all ranks have equal weights, bit for bit. Collective; nothing to do for one rank.
  // `when` is for the message: "after step 120". InternalError. PeerLostError.
  void check_equal(const std::string& when) const;

 private:
  TrainingGroups& groups_;
  int world_;
  LanguageModel model_;
  std::optional<GradientReducer> reducer_;
  std::optional<Optimizer> optimizer_;
};

}  // namespace odb
