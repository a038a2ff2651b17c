// Where the files go that can be made again from the data: line indexes, decompressed copies,
// lengths. Each is keyed by the data file's absolute path, so that several data sets share a
// folder.
#pragma once

#include <functional>
#include <string>

#include "base/files.h"

namespace odb {

class CacheFolder {
 public:
  // `chosen` is --cache-dir; empty: .odb-cache beside each data file where that folder can be
  // written, else .cache/odb-trainer in the user's home.
  explicit CacheFolder(FileSystem& files, std::string chosen = "")
      : files_(&files), chosen_(std::move(chosen)) {}

  FileSystem& files() const { return *files_; }

  // "FOLDER/16 digits-NAME" for a data file; makes the folder. Throws FileError when no folder can
  // be written.
  std::string path_for(const std::string& data_path) const;

  // Runs `build(temporary path)` and then puts what it wrote at `path`, unless `is_valid()` already
  // holds. Of the processes of one machine that ask for the same path one builds, the others wait
  // for it as long as it lives, and say so in the log every 30 seconds.
  void make(const std::string& path, const std::function<bool()>& is_valid,
            const std::function<void(const std::string&)>& build) const;

 private:
  FileSystem* files_;  // not owned
  std::string chosen_;
};

}  // namespace odb
