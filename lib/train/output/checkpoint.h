// A checkpoint of all ranks: everything that a later run needs to continue, and a model folder that
// other tools load as it is.
//
//   model*.safetensors, config.json, tokenizer files    by rank 0; fp32 also in bf16 runs
//   optimizer/state.safetensors                         by rank 0; fp32
//   data/rank-00000.json                                by each rank (data_state_json.h)
//   state.json                                          by rank 0 (run_state.h)
//   MANIFEST.json                                       by rank 0, last (checkpoint_files.h)
#pragma once

#include <map>
#include <string>

#include <torch/types.h>

#include "base/files.h"
#include "batching/state.h"
#include "dist/training_groups.h"
#include "model/files/config.h"
#include "train/output/run_paths.h"
#include "train/output/run_state.h"
#include "train/step/optimizer.h"

namespace odb {

struct CheckpointContents {
  const ModelConfig& config;
  const std::map<std::string, torch::Tensor>& weights;
  const Optimizer& optimizer;
  RunState run;
  OwnedState data;  // this rank's
  std::string
      auxiliary_files;  // folders that tokenizer files are copied from: the tokenizer's, and
  std::string model;    // the model's
};

// Writes the checkpoint of step contents.run.totals.steps and returns its path. Collective; blocks
// until it is durable on all ranks. If a rank cannot do its part, all ranks throw and nothing of
// the checkpoint stays. That rank throws its own exception (a FileError that states the needed and
// the free bytes if space is the reason), the others OtherRankFailed. PeerLostError: a part may
// stay.
std::string save_checkpoint(FileSystem& files, const RunPaths& paths, TrainingGroups& groups,
                            const CheckpointContents& contents);

}  // namespace odb
