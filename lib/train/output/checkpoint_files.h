// Checkpoint folders: how to write one, check one and list them. Tensors are ordinary files here.
//
//   checkpoints/step-00000100.tmp/   being written
//   checkpoints/step-00000100/       whole: MANIFEST.json lists every file with size and checksum
//
// A folder is a checkpoint if its manifest is valid and every listed file exists with its size (and
// checksum, if requested). This holds whatever dies at any time because of the order of writes:
// sync all files, sync the folders, sync the manifest, rename, sync the parent folder. An existing
// checkpoint is never written into.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "train/output/manifest.h"

namespace odb {

// "step-00000100", and back; nothing for any other name, "step-00000100.tmp" included.
std::string checkpoint_name(std::int64_t step);
std::optional<std::int64_t> parse_checkpoint_name(std::string_view name);

// A checkpoint that is being written. Any number of ranks write files below path(), each with its
// own CheckpointDraft; then rank 0 alone publishes. Calls block on disk I/O.
class CheckpointDraft {
 public:
  // By rank 0, before others write: removes the rest of an interrupted save of that name and
  // creates the folder. FileError: a checkpoint of this step with correct checksums exists already.
  static CheckpointDraft begin(FileSystem& files, const std::string& checkpoints,
                               std::int64_t step);
  // A draft that rank 0 began, for other ranks to write their files into.
  static CheckpointDraft join(FileSystem& files, const std::string& checkpoints, std::int64_t step);

  const std::string& path() const { return draft_; }  // .../step-00000100.tmp

  // Writes and syncs one file below path(), with the folders above it. By any rank.
  void write(const std::string& name, std::string_view bytes);

  // By rank 0 once all ranks have written and synced their files: lists and checksums them, writes
  // MANIFEST.json, renames and syncs. Returns the path of the checkpoint. A folder of that name
  // that is not a checkpoint is replaced. FileError: one of the files `required` is not there,
  // which happens on a file system that shows the files of other machines late.
  std::string publish(const std::vector<std::string>& required = {});

  // By rank 0 when a save has failed and no rank is writing any more: removes the draft if
  // possible. Never throws.
  void discard() noexcept;

 private:
  CheckpointDraft(FileSystem& files, const std::string& checkpoints, std::int64_t step);

  FileSystem* files_;
  std::string final_;
  std::string draft_;
  std::int64_t step_;
};

enum class Verify {
  sizes,     // quick: manifest, and every file there with its size
  checksums  // reads everything
};

// Whether there is a checkpoint of this step with correct checksums.
bool has_checkpoint(FileSystem& files, const std::string& checkpoints, std::int64_t step);

// Why the folder is not a checkpoint: "MANIFEST.json is missing", "model.safetensors has 10 bytes,
// expected 20". Empty: it is one. Missing or damaged files never throw.
std::string why_no_checkpoint(FileSystem& files, const std::string& folder, Verify verify);

struct CheckpointFound {
  std::int64_t step = 0;
  std::string path;
  friend bool operator==(const CheckpointFound&, const CheckpointFound&) = default;
};

struct CheckpointSkipped {
  std::string path;
  std::string reason;
  friend bool operator==(const CheckpointSkipped&, const CheckpointSkipped&) = default;
};

struct CheckpointList {
  std::vector<CheckpointFound> valid;      // newest first
  std::vector<CheckpointSkipped> skipped;  // newest first; drafts among them
};

// The checkpoints in `checkpoints`; nothing if the folder is missing. Other names are ignored.
CheckpointList list_checkpoints(FileSystem& files, const std::string& checkpoints, Verify verify);

// The newest checkpoint that passes all checksums. Logs each one that it skips, with the reason.
// Reads no more than needed.
std::optional<CheckpointFound> newest_checkpoint(FileSystem& files, const std::string& checkpoints);

// Removes all valid checkpoints except the newest `keep` and those of the steps `always` (the best
// one), and drafts older than the newest valid one; never the newest valid one. `keep` 0 removes
// nothing. Broken folders stay so that people can examine them. A checkpoint is renamed to a draft
// before its files are removed, so that a partial one never passes as valid. Checks sizes only:
// call it after a save. Returns the removed paths.
std::vector<std::string> prune_checkpoints(FileSystem& files, const std::string& checkpoints,
                                           std::int64_t keep,
                                           const std::vector<std::int64_t>& always = {});

}  // namespace odb
