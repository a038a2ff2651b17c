// The lock of a run folder: one process at a time writes there.
//
// An flock on the file `lock`. The system frees it when its owner, and all processes that the owner
// forked meanwhile, are dead. The file names the owner, for people: {"host", "pid", "job", "nonce",
// "released"}. It stays after the run, so that two processes never hold locks on two files of one
// name.
//
// On some network file systems, flock has no effect between machines. So the owner also checks
// whether its nonce is still in the file (still_ours), which detects a takeover by another machine.
#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "train/output/lives.h"

namespace odb {

struct LockOwner {
  HostInfo host_info;
  std::string nonce;      // random: no two holders have the same
  bool released = false;  // the owner released the lock itself

  friend bool operator==(const LockOwner&, const LockOwner&) = default;
};

// "process 4711 on node7 (job 99)".
std::string describe(const LockOwner& owner);
std::string to_json(const LockOwner& owner);
// An owner with empty fields if the text is invalid: a lock file is not worth a failed run.
LockOwner parse_lock_owner(std::string_view text);

class RunLock {
 public:
  // Takes the lock at `path` (its folder exists) without waiting. UsageError with the owner:
  // another process holds it. A lock whose owner died is taken over with a log line. FileError: the
  // file cannot be created. If the file system has no flock, the lock is taken with a warning.
  RunLock(const std::string& path, LockOwner owner);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();  // releases it; never throws

  const LockOwner& owner() const { return owner_; }
  // Whether the file still names this owner.
  bool still_ours() const;

 private:
  std::string path_;
  LockOwner owner_;
  Descriptor file_;
};

// This process as an owner, with a new nonce.
LockOwner this_owner();

}  // namespace odb
