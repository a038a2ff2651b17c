#include "data/records/cache_folder.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "base/checksum.h"
#include "base/error.h"
#include "base/machine.h"
#include "data/records/build_lock.h"

namespace odb {
namespace {

std::string absolute_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

bool can_write(FileSystem& files, const std::string& folder) {
  if (!files.exists(folder)) {
    const std::string parent = parent_folder(folder);
    if (!files.is_folder(parent) || ::access(parent.c_str(), W_OK | X_OK) != 0) return false;
    files.make_folders(folder);
  }
  return files.is_folder(folder) && ::access(folder.c_str(), W_OK | X_OK) == 0;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

// The prefix of this machine's temporary files.
std::string temporary_stem(const std::string& path) {
  return fmt::format("{}.{}-", path, host_name());
}

}  // namespace

std::string CacheFolder::user_cache_folder(const std::string& xdg_cache_home,
                                           const std::string& home,
                                           const std::string& database_home) {
  const auto is_absolute = [](const std::string& path) { return path.starts_with('/'); };
  if (is_absolute(xdg_cache_home)) return join_path(xdg_cache_home, "odb-trainer");
  for (const std::string& folder : {home, database_home})
    if (is_absolute(folder)) return join_path(join_path(folder, ".cache"), "odb-trainer");
  return "";
}

std::string CacheFolder::user_cache_folder() {
  const struct passwd* const user = ::getpwuid(::getuid());
  return user_cache_folder(process_environment("XDG_CACHE_HOME").value_or(""),
                           process_environment("HOME").value_or(""),
                           user == nullptr || user->pw_dir == nullptr ? "" : user->pw_dir);
}

std::string CacheFolder::key_of(const std::string& data_path) {
  return to_hex(checksum64(absolute_path(data_path))) + "-";
}

std::string CacheFolder::name_of(const std::string& data_path, const std::string& ending) {
  return key_of(data_path) + file_name(absolute_path(data_path)) + ending;
}

std::vector<std::string> CacheFolder::folders(const std::string& data_path) const {
  if (!chosen_.empty()) return {chosen_};
  std::vector<std::string> folders{
      join_path(parent_folder(absolute_path(data_path)), ".odb-cache")};
  if (!user_folder_.empty()) folders.push_back(user_folder_);
  return folders;
}

std::vector<std::string> CacheFolder::places(const std::string& data_path,
                                             const std::string& name) const {
  std::vector<std::string> places;
  for (const std::string& folder : folders(data_path))
    places.push_back(join_path(folder, name));
  return places;
}

std::string CacheFolder::folder_to_write(const std::string& data_path) const {
  const std::vector<std::string> choice = folders(data_path);
  if (chosen_.empty() && can_write(*files_, choice.front())) return choice.front();
  try {
    if (chosen_.empty() && choice.size() == 1)
      throw FileError("the user has no home folder ($XDG_CACHE_HOME and $HOME are not set)");
    files_->make_folders(choice.back());
    return choice.back();
  } catch (const FileError& error) {
    if (!chosen_.empty()) throw;
    throw FileError(
        "{}: no folder for its index: {} cannot be written, and {}; set --cache-dir to a writable "
        "folder",
        data_path, choice.front(), error.what());
  }
}

void CacheFolder::remove_leftovers(const std::string& path) const {
  const std::string folder = parent_folder(path);
  const std::string stem = file_name(temporary_stem(path));
  for (const std::string& name : files_->list(folder))
    if (name.starts_with(stem) && name.ends_with(".tmp")) files_->remove(join_path(folder, name));
}

std::string CacheFolder::find_or_make(const std::string& data_path, const std::string& name,
                                      const IsValid& is_valid, const Build& build) const {
  for (const std::string& place : places(data_path, name))
    if (is_valid(place)) return place;
  const std::string path = join_path(folder_to_write(data_path), name);
  const BuildLock lock(path);
  if (is_valid(path)) return path;
  if (lock.is_held()) remove_leftovers(path);
  const std::string temporary = fmt::format("{}{}.tmp", temporary_stem(path), ::getpid());
  try {
    build(temporary, path);
    files_->rename(temporary, path);
  } catch (...) {
    files_->remove(temporary);
    throw;
  }
  files_->sync_folder(parent_folder(path));
  return path;
}

}  // namespace odb
