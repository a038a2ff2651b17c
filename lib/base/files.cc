#include "base/files.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/error.h"

namespace odb {
namespace {

// A signal may interrupt a call before it did anything; then the call is repeated. (Not close:
// Linux has closed the file even then, and its number may already be another file's.)
template <typename Call>
auto uninterrupted(const Call& call) {
  auto result = call();
  while (result == -EINTR)
    result = call();
  return result;
}

const char* advice(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "free some space there or choose another folder";
    case EDQUOT:
      return "free some of your quota or choose another folder";
    case EACCES:
    case EPERM:
      return "check the owner and the permissions";
    case EROFS:
      return "choose a folder on a file system that can be written";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files (ulimit -n)";
    case EIO:
    case ESTALE:
      return "the storage or its server reports a fault: see the system log";
    default:
      return "check the path";
  }
}

// Throws "cannot WHAT: REASON; ADVICE"; `result` is the failed primitive's answer (-errno).
[[noreturn]] void fail(const std::string& what, std::int64_t result) {
  const int error_number = static_cast<int>(-result);
  throw FileError("cannot {}: {}; {}", what, errno_text(error_number), advice(error_number));
}

const char* purpose(OpenMode mode) {
  return mode == OpenMode::read ? "reading" : "writing";
}

std::string without_end_slashes(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  return path.substr(0,
                     last == std::string::npos ? std::min<std::size_t>(path.size(), 1) : last + 1);
}

}  // namespace

OpenFile::OpenFile(FileSystem& files, std::string path, OpenMode mode)
    : files_(&files), path_(std::move(path)) {
  const int result = uninterrupted([&] { return files_->do_open(path_, mode); });
  if (result < 0) fail(fmt::format("open {} for {}", path_, purpose(mode)), result);
  handle_ = result;
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : files_(other.files_),
      path_(std::move(other.path_)),
      handle_(std::exchange(other.handle_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(files_, other.files_);
  std::swap(path_, other.path_);
  std::swap(handle_, other.handle_);
  return *this;
}

OpenFile::~OpenFile() {
  if (handle_ >= 0) files_->do_close(handle_);
}

void OpenFile::close_checked() {
  ODB_CHECK(handle_ >= 0, "{} is closed already", path_);
  const int result = files_->do_close(std::exchange(handle_, -1));
  if (result < 0 && result != -EINTR) fail("close " + path_, result);
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<char> into) const {
  std::size_t done = 0;
  while (done < into.size()) {
    const std::int64_t count =
        uninterrupted([&] { return files().do_read(handle(), offset + done, into.subspan(done)); });
    if (count < 0) fail(fmt::format("read {} at byte {}", path(), offset + done), count);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

void OutputFile::write(std::string_view bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::int64_t count =
        uninterrupted([&] { return files().do_write(handle(), bytes.substr(done)); });
    if (count <= 0)
      fail(fmt::format("write {} ({} of {} bytes done)", path(), done, bytes.size()),
           count == 0 ? -EIO : count);
    done += static_cast<std::size_t>(count);
  }
}

void OutputFile::sync() {
  const int result = uninterrupted([&] { return files().do_sync(handle()); });
  if (result < 0) fail("sync " + path(), result);
}

DurableFile::DurableFile(FileSystem& files, std::string path)
    : files_(files), path_(std::move(path)), file_(files, path_ + ".tmp", OpenMode::create) {}

DurableFile::~DurableFile() {
  if (!committed_) files_.do_remove(file_.path());
}

void DurableFile::commit() {
  file_.sync();
  file_.close();
  files_.rename(file_.path(), path_);
  committed_ = true;
  files_.sync_folder(parent_folder(path_));
}

std::string FileSystem::read_all(const std::string& path) {
  const InputFile file = open(path);
  // The size is a hint: files in /proc have none, others may be growing. One extra byte detects the
  // end without a second read.
  std::string bytes(file_size(path) + 1, '\0');
  for (std::size_t done = 0;;) {
    done += file.read_at(done, std::span(bytes).subspan(done));
    if (done < bytes.size()) {
      bytes.resize(done);
      return bytes;
    }
    bytes.resize(std::max<std::size_t>(2 * bytes.size(), 4096));
  }
}

void FileSystem::write_durably(const std::string& path, std::string_view bytes) {
  DurableFile file(*this, path);
  file.write(bytes);
  file.commit();
}

std::vector<std::string> FileSystem::list(const std::string& folder) {
  std::vector<std::string> names;
  const int result = uninterrupted([&] {
    names.clear();
    return do_list(folder, names);
  });
  if (result < 0) fail("list the folder " + folder, result);
  std::sort(names.begin(), names.end());
  return names;
}

void FileSystem::make_folders(const std::string& folder) {
  if (is_folder(folder)) return;
  const std::string parent = parent_folder(folder);
  if (parent != folder) make_folders(parent);
  const int result = uninterrupted([&] { return do_make_folder(folder); });
  // Another rank may have made it first and not synced it yet, so both sync it.
  if (result < 0 && !(result == -EEXIST && is_folder(folder)))
    fail("make the folder " + folder, result);
  sync_folder(parent);
}

void FileSystem::rename(const std::string& from, const std::string& to) {
  const int result = uninterrupted([&] { return do_rename(from, to); });
  if (result < 0) fail(fmt::format("rename {} to {}", from, to), result);
}

bool FileSystem::remove(const std::string& path) {
  int result = uninterrupted([&] { return do_remove(path); });
  if (result == -EISDIR) result = uninterrupted([&] { return do_remove_folder(path); });
  if (result < 0 && result != -ENOENT) fail("remove " + path, result);
  return result >= 0;
}

bool FileSystem::remove_tree(const std::string& path) {
  const int result = uninterrupted([&] { return do_remove(path); });
  if (result == -ENOENT) return false;
  if (result >= 0) return true;
  if (result != -EISDIR) fail("remove " + path, result);
  for (const std::string& name : list(path))
    remove_tree(join_path(path, name));
  return remove(path);
}

void FileSystem::truncate(const std::string& path, std::uint64_t size) {
  const std::uint64_t found = file_size(path);
  if (found < size)
    throw FileError("cannot cut {} to {} bytes: it has only {}; it is damaged or the wrong file",
                    path, size, found);
  const int result = uninterrupted([&] { return do_truncate(path, size); });
  if (result < 0) fail(fmt::format("cut {} to {} bytes", path, size), result);
  OutputFile file = append(path);
  file.sync();
  file.close();
}

void FileSystem::sync_folder(const std::string& folder) {
  const int result = uninterrupted([&] { return do_sync_folder(folder); });
  // EINVAL: this file system cannot sync folders (some network and user-space ones).
  if (result < 0 && result != -EINVAL) fail("sync the folder " + folder, result);
}

std::optional<FileSystem::Status> FileSystem::status(const std::string& path) {
  Status status;
  const int result = uninterrupted([&] { return do_status(path, status); });
  if (result == -ENOENT || result == -ENOTDIR) return std::nullopt;
  if (result < 0) fail("access " + path, result);
  return status;
}

bool FileSystem::exists(const std::string& path) {
  return status(path).has_value();
}

bool FileSystem::is_folder(const std::string& path) {
  const std::optional<Status> found = status(path);
  return found && found->folder;
}

bool FileSystem::is_link(const std::string& path) {
  return do_is_link(path);
}

std::uint64_t FileSystem::file_size(const std::string& path) {
  const std::optional<Status> found = status(path);
  if (!found) fail("access " + path, -ENOENT);
  return found->size;
}

std::optional<std::uint64_t> FileSystem::free_space(const std::string& folder) {
  std::optional<std::uint64_t> bytes;
  const int result = uninterrupted([&] { return do_free_space(folder, bytes); });
  if (result < 0) fail("read the free space of " + folder, result);
  return bytes;
}

std::string read_if_there(FileSystem& files, const std::string& path) {
  try {
    return files.read_all(path);
  } catch (const FileError&) {
    return "";
  }
}

std::string parent_folder(const std::string& path) {
  const std::string whole = without_end_slashes(path);
  const std::size_t slash = whole.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : without_end_slashes(whole.substr(0, slash));
}

std::string file_name(const std::string& path) {
  const std::string whole = without_end_slashes(path);
  return whole.substr(whole.rfind('/') + 1);
}

std::string join_path(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder == ".") return name;
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

}  // namespace odb
