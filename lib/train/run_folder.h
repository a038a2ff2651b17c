// The --output folder of a run, held by rank 0: made, locked, with the run's options in it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "train/run_lock.h"
#include "train/run_paths.h"

namespace odb {

// What to do about a run that the folder holds already.
enum class ExistingRun {
  refuse,
  overwrite,  // remove what a run wrote there, and nothing else
  resume      // leave it all
};

// The names in `folder` that a run wrote: config.json, metrics.jsonl, ledger, checkpoints, ... The
// lock is none of them. Sorted; empty when there is no folder.
std::vector<std::string> run_entries(FileSystem& files, const std::string& folder);

// Whether a run trained there: a checkpoint (or a part of one), or a line of metrics. What a start
// that came to nothing left behind is no run.
bool holds_run(FileSystem& files, const std::string& folder);

// UsageError: nothing is named, or a file is there. Changes nothing; a RunFolder checks it, too.
void require_output(FileSystem& files, const std::string& output);

class RunFolder {
 public:
  // Makes `output`, takes its lock, settles what is there, and writes config.json (config_json of
  // the command's table) durably. Blocks as long as the disk does, never for the lock. UsageError:
  // no folder named; another process has the lock; there is a run and it is to be refused (the
  // message names what is there and the options to use). FileError: it cannot be written. Nothing
  // is removed before the lock is held.
  RunFolder(FileSystem& files, const std::string& output, ExistingRun existing,
            std::string_view config);

  const RunPaths& paths() const { return paths_; }
  RunLock& lock() { return *lock_; }

 private:
  RunPaths paths_;
  std::unique_ptr<RunLock> lock_;
};

}  // namespace odb
