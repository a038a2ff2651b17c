#include "base/real_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

namespace odb {
namespace {

constexpr mode_t kFileMode = 0666;  // less the process's umask
constexpr mode_t kFolderMode = 0777;

template <typename Result>
Result or_errno(Result result) {
  return result < 0 ? static_cast<Result>(-errno) : result;
}

int open_flags(OpenMode mode) {
  switch (mode) {
    case OpenMode::read:
      return O_RDONLY;
    case OpenMode::create:
      return O_WRONLY | O_CREAT | O_TRUNC;
    case OpenMode::append:
      return O_WRONLY | O_CREAT | O_APPEND;
  }
  return O_RDONLY;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

int RealFileSystem::do_open(const std::string& path, OpenMode mode) {
  return or_errno(::open(path.c_str(), open_flags(mode) | O_CLOEXEC, kFileMode));
}

int RealFileSystem::do_close(int handle) {
  return or_errno(::close(handle));
}

std::int64_t RealFileSystem::do_read(int handle, std::uint64_t offset, std::span<char> into) {
  return or_errno(::pread(handle, into.data(), into.size(), static_cast<off_t>(offset)));
}

std::int64_t RealFileSystem::do_write(int handle, std::string_view bytes) {
  return or_errno(::write(handle, bytes.data(), bytes.size()));
}

int RealFileSystem::do_sync(int handle) {
  return or_errno(::fsync(handle));
}

int RealFileSystem::do_truncate(const std::string& path, std::uint64_t size) {
  return or_errno(::truncate(path.c_str(), static_cast<off_t>(size)));
}

int RealFileSystem::do_list(const std::string& folder, std::vector<std::string>& names) {
  const std::unique_ptr<DIR, CloseFolder> open_folder(::opendir(folder.c_str()));
  if (!open_folder) return -errno;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open_folder.get());
    if (entry == nullptr) return -errno;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
}

int RealFileSystem::do_make_folder(const std::string& folder) {
  return or_errno(::mkdir(folder.c_str(), kFolderMode));
}

int RealFileSystem::do_rename(const std::string& from, const std::string& to) {
  return or_errno(::rename(from.c_str(), to.c_str()));
}

int RealFileSystem::do_remove(const std::string& path) {
  return or_errno(::unlink(path.c_str()));
}

int RealFileSystem::do_remove_folder(const std::string& folder) {
  return or_errno(::rmdir(folder.c_str()));
}

int RealFileSystem::do_sync_folder(const std::string& folder) {
  const int handle = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0) return -errno;
  const int result = or_errno(::fsync(handle));
  ::close(handle);
  return result;
}

int RealFileSystem::do_status(const std::string& path, Status& status) {
  struct stat found;
  if (::stat(path.c_str(), &found) < 0) return -errno;
  status.folder = S_ISDIR(found.st_mode);
  status.size = static_cast<std::uint64_t>(found.st_size);
  return 0;
}

bool RealFileSystem::do_is_link(const std::string& path) {
  struct stat found;
  return ::lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode);
}

// A file system that has no blocks at all does not count them (some of FUSE).
int RealFileSystem::do_free_space(const std::string& folder, std::optional<std::uint64_t>& bytes) {
  struct statvfs found;
  if (::statvfs(folder.c_str(), &found) < 0) return -errno;
  if (found.f_blocks > 0) bytes = static_cast<std::uint64_t>(found.f_bavail) * found.f_frsize;
  return 0;
}

}  // namespace odb
