// Where files are stored that can be rebuilt from the data: line indexes, decompressed copies,
// lengths. Each is keyed by the data file's absolute path, so that several data sets can share a
// folder.
//
// While a file is being built, it is named NAME.HOST-PROCESS.tmp, and NAME.lock exists. The holder
// of the lock removes what killed processes of this machine left.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files.h"

namespace odb {

class CacheFolder {
 public:
  // `chosen` is --cache-dir; empty: .odb-cache next to each data file, else `user_folder`.
  explicit CacheFolder(FileSystem& files, std::string chosen = "",
                       std::string user_folder = user_cache_folder())
      : files_(&files), chosen_(std::move(chosen)), user_folder_(std::move(user_folder)) {}

  FileSystem& files() const { return *files_; }

  // The prefix of the names of a data file's cache files: 16 digits and a dash.
  static std::string key_of(const std::string& data_path);
  // "16 digits-NAME" + ending.
  static std::string name_of(const std::string& data_path, const std::string& ending);

  // All paths where a cache file of this name may be, the first choice first.
  std::vector<std::string> places(const std::string& data_path, const std::string& name) const;

  // Writes and syncs `temporary`, which is then renamed to `path`.
  using Build = std::function<void(const std::string& temporary, const std::string& path)>;
  using IsValid = std::function<bool(const std::string& path)>;

  // The first of the places with a valid file. If there is none, builds the file in the first
  // writable folder. Of the processes of one machine that need it, one builds; the others wait as
  // long as it lives, and log that every 30 seconds. Throws FileError if no folder is writable.
  std::string find_or_make(const std::string& data_path, const std::string& name,
                           const IsValid& is_valid, const Build& build) const;

  // The user's folder: odb-trainer in $XDG_CACHE_HOME, else .cache/odb-trainer in $HOME, else in
  // the home folder of the system's user database. A variable that is no absolute path does not
  // count. Empty: none of them is known.
  static std::string user_cache_folder();
  // The same from given values.
  static std::string user_cache_folder(const std::string& xdg_cache_home, const std::string& home,
                                       const std::string& database_home);

 private:
  std::vector<std::string> folders(const std::string& data_path) const;
  std::string folder_to_write(const std::string& data_path) const;
  void remove_leftovers(const std::string& path) const;

  FileSystem* files_;  // not owned
  std::string chosen_;
  std::string user_folder_;
};

}  // namespace odb
