// The ledger as an observer of the training: which views this rank trained in which step, and
// which were left out.
#pragma once

#include <cstdint>

#include "base/files.h"
#include "train/output/ledger_file.h"
#include "train/output/run_paths.h"
#include "train/step/step_observer.h"

namespace odb {

struct LedgerRecorderOptions {
  RunPaths paths;
  std::int64_t life = 0;  // number of this process life of the run, equal on all ranks
  int rank = 0;
  int world = 1;
  std::int64_t resumed_step = 0;   // where this life begins
  std::int64_t resumed_epoch = 0;  // epochs that have ended there
};

class LedgerRecorder final : public StepObserver {
 public:
  // `files` outlives it. Rank 0 marks where this process life begins. FileError.
  LedgerRecorder(FileSystem& files, const LedgerRecorderOptions& options);

  void end_step(const FinishedStep& step) override;
  void end_epoch(const FinishedStep& rest) override;
  // Makes the ledger durable: a checkpoint's manifest depends on it.
  void begin_save(const RunTotals& totals) override;

  // Makes it durable at the end of a run that saves nothing.
  void sync() { ledger_.sync(); }

 private:
  std::int64_t life_;
  LedgerFile ledger_;
};

}  // namespace odb
