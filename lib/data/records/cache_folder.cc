#include "data/records/cache_folder.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/checksum.h"
#include "base/error.h"
#include "base/log.h"

namespace odb {
namespace {

constexpr std::chrono::milliseconds kPoll{50};
constexpr std::chrono::seconds kTellEvery{30};

// An exclusive flock on a file beside the one that is built; the system frees it when its holder
// dies. Where a file system has no locks, several processes may build: more work, same result.
class BuildLock {
 public:
  explicit BuildLock(const std::string& path) {
    descriptor_ = ::open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor_ < 0) return;
    auto told = std::chrono::steady_clock::now();
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      std::this_thread::sleep_for(kPoll);
      if (std::chrono::steady_clock::now() - told < kTellEvery) continue;
      told = std::chrono::steady_clock::now();
      log("data").info("waiting for another process that is making {}", path);
    }
  }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;
  ~BuildLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

 private:
  int descriptor_ = -1;
};

bool can_write(FileSystem& files, const std::string& folder) {
  if (!files.is_folder(folder)) {
    const std::string parent = parent_folder(folder);
    if (!files.is_folder(parent) || ::access(parent.c_str(), W_OK | X_OK) != 0) return false;
    files.make_folders(folder);
  }
  return ::access(folder.c_str(), W_OK | X_OK) == 0;
}

std::string home_cache() {
  const struct passwd* const user = ::getpwuid(::getuid());
  return user == nullptr || user->pw_dir == nullptr
             ? ""
             : join_path(join_path(user->pw_dir, ".cache"), "odb-trainer");
}

}  // namespace

std::string CacheFolder::path_for(const std::string& data_path) const {
  const std::string absolute = std::filesystem::absolute(data_path).lexically_normal().string();
  const std::string name = fmt::format("{}-{}", to_hex(checksum64(absolute)), file_name(absolute));
  if (!chosen_.empty()) {
    files_->make_folders(chosen_);
    return join_path(chosen_, name);
  }
  const std::string beside = join_path(parent_folder(absolute), ".odb-cache");
  if (can_write(*files_, beside)) return join_path(beside, name);
  const std::string home = home_cache();
  if (home.empty())
    throw FileError(
        "{}: no folder for its index: {} cannot be written and the user has no home; "
        "give --cache-dir",
        data_path, beside);
  files_->make_folders(home);
  return join_path(home, name);
}

void CacheFolder::make(const std::string& path, const std::function<bool()>& is_valid,
                       const std::function<void(const std::string&)>& build) const {
  if (is_valid()) return;
  const BuildLock lock(path);
  if (is_valid()) return;
  const std::string temporary = fmt::format("{}.{}", path, ::getpid());
  try {
    build(temporary);
  } catch (...) {
    files_->remove(temporary);
    throw;
  }
  files_->rename(temporary, path);
  files_->sync_folder(parent_folder(path));
}

}  // namespace odb
