// An exclusive flock on a file next to the one being built; the system releases it when its holder
// dies. If a file system has no locks, several processes may build: more work, same result.
#pragma once

#include <string>

#include "base/descriptor.h"

namespace odb {

class BuildLock {
 public:
  // Waits for the lock on `path` + ".lock" as long as its holder lives, and logs that every 30
  // seconds.
  explicit BuildLock(const std::string& path);
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;
  // Removes the lock's file.
  ~BuildLock();

  // Whether no other process on this machine builds.
  bool is_held() const { return is_held_; }

 private:
  bool wait(const std::string& path) const;

  std::string lock_path_;
  Descriptor file_;
  bool is_held_ = false;
};

}  // namespace odb
