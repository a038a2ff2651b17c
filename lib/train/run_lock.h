// The lock of a run folder: one process at a time writes there.
//
// An flock on the file `lock`, freed by the system when its owner, and all that it forked
// meanwhile, are dead. The file tells who that is, for people: {"host", "pid", "job", "nonce",
// "released"}. It stays after the run, so that there is no moment at which two could hold locks on
// two files of one name.
//
// Some network file systems give flock no effect between machines; so the owner also asks whether
// its nonce still stands in the file (still_ours), and a takeover across machines is found out.
#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "train/lives.h"

namespace odb {

struct LockOwner {
  ProcessPlace place;
  std::string nonce;      // random: no two holders have the same
  bool released = false;  // the owner left by itself

  friend bool operator==(const LockOwner&, const LockOwner&) = default;
};

// "process 4711 on node7 (job 99)".
std::string describe(const LockOwner& owner);
std::string to_json(const LockOwner& owner);
// An owner with empty fields for a text that is none: a lock file is not worth a failed run.
LockOwner parse_lock_owner(std::string_view text);

class RunLock {
 public:
  // Takes the lock at `path` (its folder exists) without waiting. UsageError naming the owner: held
  // by another process. One whose owner died is taken over with a log line. FileError: the file
  // cannot be made; where the file system has no flock, the lock is taken with a warning.
  RunLock(const std::string& path, LockOwner owner);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();  // releases it; never throws

  const LockOwner& owner() const { return owner_; }
  // Whether the file still tells this owner.
  bool still_ours() const;

 private:
  std::string path_;
  LockOwner owner_;
  Descriptor file_;
};

// This process as an owner, with a new nonce.
LockOwner this_owner();

}  // namespace odb
