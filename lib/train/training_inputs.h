// Everything that a run is made of before it begins: checked options, opened data, the loaders of
// its data processes. No process, thread, tensor or file of the run exists yet, so what cannot work
// is found here.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/loader/loader.h"
#include "data/sample/sample.h"
#include "data/sample/sample_source.h"
#include "model/cost.h"
#include "model/files/answer_files.h"
#include "model/files/config.h"
#include "train/run_options.h"
#include "train/session/launch_config.h"
#include "train/step/progress.h"

namespace odb {

struct TrainingInputs {
  RunOptions options;  // with defaults filled in
  LaunchConfig launch;
  ModelConfig config;
  std::unique_ptr<SampleSource> source;
  std::vector<std::unique_ptr<SampleSource>> evaluation;  // one for each --eval-data
  std::vector<LoaderSetup> loaders;  // training, then evaluation in the same order
  RunLimits limits;
  MemoryEstimate memory;        // of a rank, at max_tokens
  std::int64_t max_tokens = 0;  // of a micro-batch, padding included
  Sample first_sample;          // of the first view that can be trained
  AnswerFiles answers;          // rank 0: what checkpoints say of the answers that are trained
};

// UsageError with the parts of the estimate when it exceeds `available` bytes (0: not known).
// `place`: whose memory, for the message.
void require_memory(const TrainingInputs& inputs, std::uint64_t available,
                    const std::string& place);

// Opens and checks. Helper threads have ended on return. Throws UsageError, DataError or FileError:
// options that contradict each other, a tokenizer with more ids than the model, broken data, fewer
// samples than ranks without --join.
TrainingInputs prepare_training(FileSystem& files, const RunOptions& options,
                                const LaunchConfig& launch);

// Logs what a run begins with: its options (`config`, as JSON), its first sample, and why it would
// learn nothing, if that is known.
void log_start(const TrainingInputs& inputs, const std::string& config);

}  // namespace odb
