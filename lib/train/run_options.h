// Every option of a training run, and what follows from them before anything is opened.
#pragma once

#include "batching/options.h"
#include "data/data_options.h"
#include "data/loader/loader_options.h"
#include "model/model_options.h"
#include "train/output/logging_options.h"
#include "train/output/run_folder.h"
#include "train/output/saving_options.h"
#include "train/session/rank_options.h"
#include "train/step/evaluation_schedule.h"
#include "train/step/optimizer_options.h"
#include "train/step/run_length.h"

namespace odb {

struct RunOptions {
  DataOptions data;
  LoaderOptions loader;
  BatchingOptions batching;
  ModelOptions model;
  OptimizerOptions optimizer;
  LengthOptions length;
  EvaluationOptions evaluation;
  RankOptions ranks;
  FileOptions files;
  SavingOptions saving;
  LoggingOptions logging;
};

void describe(OptionTable& table, RunOptions& options);

}  // namespace odb
