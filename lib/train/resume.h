// Where a run goes on: chosen by rank 0, known to all ranks, and read by each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/files.h"
#include "batching/state.h"
#include "train/output/run_paths.h"
#include "train/output/run_state.h"
#include "train/output/saving_options.h"
#include "train/step/run_length.h"

namespace odb {

// What rank 0 has found in the run's folder; travels over the store.
struct ResumePoint {
  std::string checkpoint;  // its folder; empty: the run begins anew
  std::int64_t life = 0;   // the number of this process life, from 0
  bool finished = false;   // the run that the options describe is over already

  bool goes_on() const { return !checkpoint.empty(); }
  friend bool operator==(const ResumePoint&, const ResumePoint&) = default;
};

std::string to_json(const ResumePoint& point);
ResumePoint parse_resume_point(std::string_view text);

// By rank 0. Chooses by --resume; logs each checkpoint that is damaged, and verifies all checksums
// of the chosen one. Changes nothing. UsageError: `must` without a checkpoint, or a path that is
// none of this run's. FileError: the checkpoint at that path is damaged, or its state cannot be
// read.
ResumePoint find_resume_point(FileSystem& files, const RunPaths& paths,
                              const SavingOptions& options, const RunLimits& limits);

struct ResumedState {
  RunState run;
  DataState data;  // of the rank that reads
};

// This rank's part of a checkpoint, which must belong to the run that `running` and `inputs`
// (input_facts.h) describe. UsageError, naming what differs: another seed, other data, batching,
// input files or number of ranks. FileError.
ResumedState read_resumed_state(FileSystem& files, const std::string& checkpoint,
                                const StateOwner& running, const std::string& inputs);

}  // namespace odb
