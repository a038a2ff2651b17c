#include "train/output/checkpoint_files.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

namespace odb {
namespace {

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kDraftSuffix = ".tmp";

std::string draft_of(const std::string& checkpoint) {
  return checkpoint + std::string(kDraftSuffix);
}

// Calls `visit` for each folder below `folder`, including `folder`, and for each file with its name
// relative to it. Sorted by name within a folder.
void walk(FileSystem& files, const std::string& folder, const std::string& name,
          const std::function<void(const std::string& folder)>& visit_folder,
          const std::function<void(const std::string& name)>& visit_file) {
  const std::string here = join_path(folder, name);
  for (const std::string& entry : files.list(here)) {
    const std::string below = join_path(name, entry);
    if (files.is_folder(join_path(folder, below)))
      walk(files, folder, below, visit_folder, visit_file);
    else
      visit_file(below);
  }
  visit_folder(here);
}

ManifestFile describe_file(FileSystem& files, const std::string& folder, const std::string& name) {
  const std::string path = join_path(folder, name);
  return {
      .name = name, .size = files.file_size(path), .xxh3 = to_hex(file_checksum128(files, path))};
}

std::string why_file_differs(FileSystem& files, const std::string& folder,
                             const ManifestFile& expected, Verify verify) {
  const std::string path = join_path(folder, expected.name);
  if (!files.exists(path)) return fmt::format("{} is missing", expected.name);
  if (files.is_folder(path)) return fmt::format("{} is a folder", expected.name);
  const std::uint64_t size = files.file_size(path);
  if (size != expected.size)
    return fmt::format("{} has {} bytes, expected {}", expected.name, size, expected.size);
  if (verify == Verify::sizes) return "";
  const std::string found = to_hex(file_checksum128(files, path));
  if (found == expected.xxh3) return "";
  return fmt::format("{} has checksum {}, expected {}", expected.name, found, expected.xxh3);
}

// All folders named like a checkpoint or a draft of one, newest first.
struct Candidate {
  std::int64_t step;
  std::string path;
  bool draft;
};

std::vector<Candidate> candidates(FileSystem& files, const std::string& checkpoints) {
  std::vector<Candidate> found;
  if (!files.is_folder(checkpoints)) return found;
  for (const std::string& name : files.list(checkpoints)) {
    const bool draft = name.ends_with(kDraftSuffix);
    const std::string_view stem =
        std::string_view(name).substr(0, name.size() - (draft ? kDraftSuffix.size() : 0));
    if (const auto step = parse_checkpoint_name(stem))
      found.push_back({*step, join_path(checkpoints, name), draft});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Candidate::step);
  return found;
}

std::string why_skipped(FileSystem& files, const Candidate& candidate, Verify verify) {
  if (candidate.draft) return "it was not finished";
  return why_no_checkpoint(files, candidate.path, verify);
}

}  // namespace

std::string checkpoint_name(std::int64_t step) {
  return fmt::format("{}{:08}", kPrefix, step);
}

std::optional<std::int64_t> parse_checkpoint_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto step = parse_integer<std::int64_t>(name.substr(kPrefix.size()));
  if (!step || *step < 0 || checkpoint_name(*step) != name) return std::nullopt;
  return step;
}

CheckpointDraft::CheckpointDraft(FileSystem& files, const std::string& checkpoints,
                                 std::int64_t step)
    : files_(&files),
      final_(join_path(checkpoints, checkpoint_name(step))),
      draft_(draft_of(final_)),
      step_(step) {}

CheckpointDraft CheckpointDraft::begin(FileSystem& files, const std::string& checkpoints,
                                       std::int64_t step) {
  CheckpointDraft draft(files, checkpoints, step);
  if (has_checkpoint(files, checkpoints, step))
    throw FileError("{}: found a checkpoint of this step; it is not overwritten", draft.final_);
  files.remove_tree(draft.draft_);
  files.make_folders(draft.draft_);
  return draft;
}

CheckpointDraft CheckpointDraft::join(FileSystem& files, const std::string& checkpoints,
                                      std::int64_t step) {
  return {files, checkpoints, step};
}

void CheckpointDraft::write(const std::string& name, std::string_view bytes) {
  ODB_CHECK(is_name_below(name) && name != kManifestName, "name {}", name);
  const std::string path = join_path(draft_, name);
  files_->make_folders(parent_folder(path));
  OutputFile file = files_->create(path);
  file.write(bytes);
  file.sync();
  file.close();
}

std::string CheckpointDraft::publish(const std::vector<std::string>& required) {
  Manifest manifest{.step = step_, .files = {}};
  walk(
      *files_, draft_, "", [&](const std::string& folder) { files_->sync_folder(folder); },
      [&](const std::string& name) {
        manifest.files.push_back(describe_file(*files_, draft_, name));
      });
  ODB_CHECK(!manifest.files.empty(), "{}: a checkpoint without files", draft_);
  std::ranges::sort(manifest.files, {}, &ManifestFile::name);
  for (const std::string& name : required)
    if (!std::ranges::binary_search(manifest.files, name, {}, &ManifestFile::name))
      throw FileError(
          "{}: {} is missing, although its rank has written it; expected a file system that all "
          "ranks share and that shows their files to rank 0",
          draft_, name);
  files_->write_durably(join_path(draft_, kManifestName), to_json(manifest));
  if (files_->remove_tree(final_))
    log("files").warn("{}: removed an invalid checkpoint of that name", final_);
  files_->rename(draft_, final_);
  files_->sync_folder(parent_folder(final_));
  return final_;
}

void CheckpointDraft::discard() noexcept {
  try {
    files_->remove_tree(draft_);
  } catch (const std::exception& error) {
    log("files").warn("{}: cannot remove the files of a failed save: {}", draft_, error.what());
  }
}

bool has_checkpoint(FileSystem& files, const std::string& checkpoints, std::int64_t step) {
  const std::string path = join_path(checkpoints, checkpoint_name(step));
  return files.exists(path) && why_no_checkpoint(files, path, Verify::checksums).empty();
}

std::string why_no_checkpoint(FileSystem& files, const std::string& folder, Verify verify) {
  try {
    if (!files.is_folder(folder)) return "it is not a folder";
    const std::string path = join_path(folder, kManifestName);
    if (!files.exists(path)) return fmt::format("{} is missing", kManifestName);
    const Manifest manifest = parse_manifest(files.read_all(path), kManifestName);
    if (const auto step = parse_checkpoint_name(file_name(folder)); step && *step != manifest.step)
      return fmt::format("{} is of step {}", kManifestName, manifest.step);
    for (const ManifestFile& file : manifest.files)
      if (std::string why = why_file_differs(files, folder, file, Verify::sizes); !why.empty())
        return why;
    if (verify == Verify::sizes) return "";
    for (const ManifestFile& file : manifest.files)
      if (std::string why = why_file_differs(files, folder, file, verify); !why.empty()) return why;
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

CheckpointList list_checkpoints(FileSystem& files, const std::string& checkpoints, Verify verify) {
  CheckpointList list;
  for (Candidate& candidate : candidates(files, checkpoints)) {
    std::string why = why_skipped(files, candidate, verify);
    if (why.empty())
      list.valid.push_back({candidate.step, std::move(candidate.path)});
    else
      list.skipped.push_back({std::move(candidate.path), std::move(why)});
  }
  return list;
}

std::optional<CheckpointFound> newest_checkpoint(FileSystem& files,
                                                 const std::string& checkpoints) {
  for (Candidate& candidate : candidates(files, checkpoints)) {
    const std::string why = why_skipped(files, candidate, Verify::checksums);
    if (why.empty()) return CheckpointFound{candidate.step, std::move(candidate.path)};
    log("files").warn("{} is skipped: {}", candidate.path, why);
  }
  return std::nullopt;
}

std::vector<std::string> prune_checkpoints(FileSystem& files, const std::string& checkpoints,
                                           std::int64_t keep,
                                           const std::vector<std::int64_t>& always) {
  std::vector<std::string> removed;
  if (keep == 0) return removed;
  std::int64_t valid = 0;
  for (const Candidate& candidate : candidates(files, checkpoints)) {
    if (candidate.draft) {
      if (valid > 0 && files.remove_tree(candidate.path)) removed.push_back(candidate.path);
      continue;
    }
    if (!why_no_checkpoint(files, candidate.path, Verify::sizes).empty()) continue;
    if (++valid <= keep || std::ranges::find(always, candidate.step) != always.end()) continue;
    const std::string draft = draft_of(candidate.path);
    files.remove_tree(draft);
    files.rename(candidate.path, draft);
    files.sync_folder(checkpoints);
    files.remove_tree(draft);
    removed.push_back(candidate.path);
  }
  return removed;
}

}  // namespace odb
