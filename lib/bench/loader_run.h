// Runs the data processes without a model: what `bench loader` measures.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "batching/options.h"
#include "bench/rank_options.h"
#include "data/data_options.h"
#include "data/loader/loader_options.h"
#include "data/loader/pipeline.h"
#include "data/loader/processes/process_use.h"
#include "data/sample/sample_source.h"

namespace odb {

struct BenchLoaderOptions {
  DataOptions data;
  BatchingOptions batching;
  LoaderOptions loader;
  LocalRankOptions ranks;
  std::optional<std::int64_t> epochs;
  std::optional<std::int64_t> max_tokens;
  std::int64_t nproc = 1;
  std::chrono::milliseconds timeout{300000};
  bool json = false;
};

// What a rank reports to the command that forked it. In shared memory.
struct RankFigures {
  double first_batch_seconds = 0;  // from the entry of this command
  double seconds = 0;              // from the start of the first epoch
  std::uint64_t sequence = 0;      // checksum over what all ranks must agree on, slot after slot
  PipelineStatistics statistics;
};

struct Measured {
  std::int64_t ranks = 1;
  std::size_t shared_bytes = 0;  // of a rank
  RankFigures figures;           // of all ranks: sums, and the longest times
  std::vector<ProcessUse> processes;
};

// Reads the epochs on `options.nproc` ranks of this machine and takes every micro-batch as soon as
// it is ready. `entry`: when the command began. Throws an Error with the exit code of the first
// rank that failed, or ExitCode::interrupted.
Measured run_loader(const BenchLoaderOptions& options, const SampleSource& source,
                    std::chrono::steady_clock::time_point entry);

}  // namespace odb
