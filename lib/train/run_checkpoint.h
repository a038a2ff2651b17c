// What a run puts into a checkpoint: its model, optimizer and place in the data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/files.h"
#include "batching/state.h"
#include "dist/training_groups.h"
#include "train/replica.h"
#include "train/step/evaluation_schedule.h"
#include "train/step/progress.h"
#include "train/training_inputs.h"

namespace odb {

// Where a run is, beside its replica.
struct RunSnapshot {
  RunTotals totals;
  std::optional<BestEvaluation> best;
  bool evaluation_open = false;
  std::optional<std::int64_t> evaluated_step;
  std::int64_t life = 0;
  DataState data;  // this rank's
};

// Whose data state this rank saves.
StateOwner owner_of(const TrainingInputs& inputs);

// Saves the checkpoint of step run.totals.steps and returns its path. Collective; see
// save_checkpoint.
std::string save_run(FileSystem& files, const TrainingInputs& inputs, Replica& replica,
                     TrainingGroups& groups, const RunSnapshot& run);

}  // namespace odb
