#include "data/records/build_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/file_lock.h"
#include "base/log.h"

namespace odb {
namespace {

constexpr std::chrono::milliseconds kPoll{50};
constexpr std::chrono::seconds kLogInterval{30};

// Whether the open file still has its name: the last holder may have removed it.
bool has_name(int descriptor, const std::string& path) {
  struct stat open = {};
  struct stat named = {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace

BuildLock::BuildLock(const std::string& path) : lock_path_(path + ".lock") {
  for (;;) {
    file_ = Descriptor(::open(lock_path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666));
    if (!file_.open()) return;
    is_held_ = wait(path);
    if (!is_held_ || has_name(file_.get(), lock_path_)) return;
  }
}

BuildLock::~BuildLock() {
  if (file_.open()) ::unlink(lock_path_.c_str());
}

// False: the file system has no locks.
bool BuildLock::wait(const std::string& path) const {
  auto logged = std::chrono::steady_clock::now();
  for (;;) {
    const LockResult result = try_lock(file_, LockMode::exclusive);
    if (result != LockResult::held_elsewhere) return result == LockResult::taken;
    std::this_thread::sleep_for(kPoll);
    if (std::chrono::steady_clock::now() - logged < kLogInterval) continue;
    logged = std::chrono::steady_clock::now();
    log("data").info("waiting for another process that is making {}", path);
  }
}

}  // namespace odb
