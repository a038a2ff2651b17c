// The --output folder of a run, held by rank 0: created, locked, with the run's options in it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/options/table.h"
#include "train/output/run_lock.h"
#include "train/output/run_paths.h"

namespace odb {

// Group "files".
struct FileOptions {
  std::string output;
  bool overwrite = false;
};
void describe(OptionTable& table, FileOptions& options);

// What to do about a run that the folder already holds.
enum class ExistingRun {
  refuse,
  overwrite,  // remove what a run wrote there, and nothing else
  restart,    // the same, but its lives stay: nothing of it was saved
  resume      // leave it all
};

// The names in `folder` that a run wrote: config.json, metrics.jsonl, ledger, checkpoints, ...,
// without the lock. Sorted; empty if there is no folder.
std::vector<std::string> run_entries(FileSystem& files, const std::string& folder);

// Whether a run trained there: it left a checkpoint (or a part of one) or a line of metrics. A
// start that never trained is not a run.
bool holds_run(FileSystem& files, const std::string& folder);

// UsageError: no path is given, or it is a file. Changes nothing; RunFolder checks it, too.
void require_output(FileSystem& files, const std::string& output);

class RunFolder {
 public:
  // Creates `output`, takes its lock, handles an existing run, and writes config.json (config_json
  // of the command's table) durably. Blocks on disk I/O, never on the lock. UsageError: no folder
  // is given; another process has the lock; a run exists and must be refused (the message names its
  // files and the options to use). FileError: it cannot be written. Nothing is removed before the
  // lock is held.
  RunFolder(FileSystem& files, const std::string& output, ExistingRun existing,
            std::string_view config);

  const RunPaths& paths() const { return paths_; }
  RunLock& lock() { return *lock_; }

 private:
  RunPaths paths_;
  std::unique_ptr<RunLock> lock_;
};

}  // namespace odb
