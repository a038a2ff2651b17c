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
#include "model/files/answer_files.h"
#include "model/trainable_model.h"
#include "train/output/checkpoint_files.h"
#include "train/output/optimizer_file.h"
#include "train/output/run_paths.h"
#include "train/output/run_state.h"
#include "train/step/optimizer.h"

namespace odb {

struct CheckpointContents {
  const TrainableModel& model;
  const Optimizer& optimizer;
  RunState run;
  OwnedState data;  // this rank's
  // Where tokenizer files and generation settings are copied from; --tokenizer may be a file.
  std::string tokenizer_folder;
  std::string model_folder;
  AnswerFiles answers = {};  // take the place of such files
};

// Whether a snapshot has its own copy of the tensors, or refers to those of the run, which must not
// change until it is written.
enum class SnapshotTensors { copied, referred };

// Everything that one rank saves, as it was at one moment. Rank 0 alone has model and optimizer.
struct CheckpointSnapshot {
  int rank = 0;
  const TrainableModel* model = nullptr;  // writes its folder; outlives the snapshot
  Weights weights;
  OptimizerState optimizer;
  RunState run;
  OwnedState data;
  std::string tokenizer_folder;
  std::string model_folder;
  AnswerFiles answers;
};

// A checkpoint is saved in three acts. Only the first one keeps the training from going on.
//
//   take_snapshot    a copy in memory
//   write_snapshot   this rank's files into a draft; no collectives, any thread
//   CheckpointDraft::publish   by rank 0, once all ranks have written
//
// Copies to the CPU if `tensors` are to be copied; takes their bytes of memory then.
CheckpointSnapshot take_snapshot(const CheckpointContents& contents, int rank,
                                 SnapshotTensors tensors);
// Blocks on disk I/O. FileError; an exception of LibTorch.
void write_snapshot(FileSystem& files, CheckpointDraft& draft, const CheckpointSnapshot& snapshot);

// The three acts in a row: writes the checkpoint of step contents.run.totals.steps and returns its
// path; keeps one of this step that is already there: the weights after a step are always the same.
// Collective; blocks until it is durable on all ranks. If a rank cannot do its part, all
// ranks throw and nothing of the checkpoint stays. That rank throws its own exception (a FileError
// that states the needed and the free bytes if space is the reason), the others OtherRankFailed.
// PeerLostError: a part may stay.
std::string save_checkpoint(FileSystem& files, const RunPaths& paths, TrainingGroups& groups,
                            const CheckpointContents& contents);

}  // namespace odb
