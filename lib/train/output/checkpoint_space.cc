#include "train/output/checkpoint_space.h"

#include "base/bytes.h"
#include "base/error.h"
#include "train/output/run_folder.h"

namespace odb {
namespace {

std::string nearest_folder(FileSystem& files, std::string path) {
  while (!files.is_folder(path)) {
    const std::string parent = parent_folder(path);
    if (parent == path) break;
    path = parent;
  }
  return path;
}

// Bytes that removing `path` frees. Links are removed, their targets are not.
std::uint64_t bytes_in(FileSystem& files, const std::string& path) {
  if (files.is_link(path)) return 0;
  try {
    if (!files.is_folder(path)) return files.file_size(path);
    std::uint64_t bytes = 0;
    for (const std::string& name : files.list(path))
      bytes += bytes_in(files, join_path(path, name));
    return bytes;
  } catch (const FileError&) {
    if (files.exists(path)) throw;
    return 0;
  }
}

}  // namespace

std::uint64_t checkpoint_bytes(std::uint64_t weights, const OptimizerOptions& optimizer) {
  if (optimizer.optimizer == OptimizerKind::adamw) return 3 * weights;
  return optimizer.momentum() > 0 ? 2 * weights : weights;
}

std::uint64_t bytes_of_run(FileSystem& files, const std::string& output) {
  std::uint64_t bytes = 0;
  for (const std::string& name : run_entries(files, output))
    bytes += bytes_in(files, join_path(output, name));
  return bytes;
}

std::optional<std::uint64_t> space_for_run(FileSystem& files, const std::string& output,
                                           bool overwrite) {
  std::optional<std::uint64_t> bytes = files.free_space(nearest_folder(files, output));
  if (bytes && overwrite) *bytes += bytes_of_run(files, output);
  return bytes;
}

void require_space(FileSystem& files, const std::string& output, bool overwrite,
                   std::uint64_t needed) {
  const std::optional<std::uint64_t> free = space_for_run(files, output, overwrite);
  if (!free || *free >= needed) return;
  throw FileError(
      "--output {}: a checkpoint of this model takes about {} ({} bytes: weights and optimizer), "
      "its file system has {} ({} bytes) free; free some space there or choose another folder",
      output, format_bytes(needed), needed, format_bytes(*free), *free);
}

std::string lack_of_space(FileSystem& files, const std::string& folder, std::uint64_t needed) {
  try {
    const std::optional<std::uint64_t> free = files.free_space(folder);
    if (!free || *free >= needed) return "";
    return fmt::format(
        "; a checkpoint takes about {} ({} bytes), {} has {} ({} bytes) free now: free some "
        "space there and start the run again, or give it another --output",
        format_bytes(needed), needed, folder, format_bytes(*free), *free);
  } catch (const FileError&) {
    return "";
  }
}

}  // namespace odb
