// Where the files go that can be made again from the data: line indexes, decompressed copies,
// lengths. Each is keyed by the data file's absolute path, so that several data sets share a
// folder.
//
// While one is made it lies beside its place as NAME.HOST-PROCESS.tmp, and NAME.lock is there;
// whoever holds the lock removes what killed processes of this machine left.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files.h"

namespace odb {

class CacheFolder {
 public:
  // `chosen` is --cache-dir; empty: .odb-cache beside each data file, else .cache/odb-trainer in
  // `home`.
  explicit CacheFolder(FileSystem& files, std::string chosen = "", std::string home = user_home())
      : files_(&files), chosen_(std::move(chosen)), home_(std::move(home)) {}

  FileSystem& files() const { return *files_; }

  // What the names of a data file's cache files begin with: 16 digits and a dash.
  static std::string key_of(const std::string& data_path);
  // "16 digits-NAME" + ending.
  static std::string name_of(const std::string& data_path, const std::string& ending);

  // All places where a cache file of this name may lie, the first choice first.
  std::vector<std::string> places(const std::string& data_path, const std::string& name) const;

  // `temporary` is to be written and synced; then it is put at `path`.
  using Build = std::function<void(const std::string& temporary, const std::string& path)>;
  using IsValid = std::function<bool(const std::string& path)>;

  // The first place where a file lies that is valid. If there is none, the file is made in the
  // first folder that can be written: of the processes of one machine that want it one builds, the
  // others wait for it as long as it lives, and say so in the log every 30 seconds. Throws
  // FileError when no folder can be written.
  std::string find_or_make(const std::string& data_path, const std::string& name,
                           const IsValid& is_valid, const Build& build) const;

  // The home folder of the user, of the system's list of users; empty: none.
  static std::string user_home();

 private:
  std::vector<std::string> folders(const std::string& data_path) const;
  std::string folder_to_write(const std::string& data_path) const;
  void remove_leftovers(const std::string& path) const;

  FileSystem* files_;  // not owned
  std::string chosen_;
  std::string home_;
};

}  // namespace odb
