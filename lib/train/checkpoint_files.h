// Checkpoint folders: how one comes to be, whether it is one, which there are. Tensors are files
// like any other here.
//
//   checkpoints/step-00000100.tmp/   being written
//   checkpoints/step-00000100/       whole: MANIFEST.json lists every file with size and checksum
//
// A folder is a checkpoint when its manifest is valid and every file it names is there with that
// size (and checksum, when asked). The order that makes it so whatever dies when: all files synced,
// folders synced, manifest synced, renamed, parent synced. A name that exists is never written
// into.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "train/manifest.h"

namespace odb {

// "step-00000100", and back; nothing for another name, "step-00000100.tmp" too.
std::string checkpoint_name(std::int64_t step);
std::optional<std::int64_t> parse_checkpoint_name(std::string_view name);

// A checkpoint in the making. Any number of ranks write files below path() (each through its own
// means); then rank 0 alone publishes. Calls block as long as the disk does.
class CheckpointDraft {
 public:
  // By rank 0, before others write: removes what an interrupted save left under the name, makes the
  // folder. FileError: there is a checkpoint of this step already, and its checksums are right.
  static CheckpointDraft begin(FileSystem& files, const std::string& checkpoints,
                               std::int64_t step);
  // A draft that rank 0 began, for other ranks to write their files into.
  static CheckpointDraft join(FileSystem& files, const std::string& checkpoints, std::int64_t step);

  const std::string& path() const { return draft_; }  // .../step-00000100.tmp

  // Writes and syncs one file below path(), with the folders above it. By any rank.
  void write(const std::string& name, std::string_view bytes);

  // By rank 0 once all files are written and synced (of other ranks, too): lists and checksums what
  // is there, writes MANIFEST.json, renames and syncs. The path of the checkpoint. A folder of the
  // name that is no checkpoint is removed for it.
  std::string publish();

  // By rank 0 when a save has failed and nobody writes any more: removes the draft, as far as that
  // is possible. Never throws.
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

// Why the folder is no checkpoint: "MANIFEST.json is missing", "model.safetensors has 10 bytes,
// wanted 20". Empty: it is one. Never throws for what is or is not there.
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

// What lies in `checkpoints`; nothing when the folder is missing. Other names are passed over.
CheckpointList list_checkpoints(FileSystem& files, const std::string& checkpoints, Verify verify);

// The newest checkpoint that passes all checksums; each that is skipped on the way gets a log line
// with the reason. Reads only as far down as needed.
std::optional<CheckpointFound> newest_checkpoint(FileSystem& files, const std::string& checkpoints);

// Removes all valid checkpoints but the newest `keep` and those of the steps `always` (the best
// one), and drafts older than the newest valid one; never that one. `keep` 0 removes nothing.
// Broken folders stay: what is wrong with them is for people to see. A checkpoint is renamed to a
// draft before its files go, so that no part of it passes for whole. Looks at sizes alone: to be
// called after a save. Returns the paths removed.
std::vector<std::string> prune_checkpoints(FileSystem& files, const std::string& checkpoints,
                                           std::int64_t keep,
                                           const std::vector<std::int64_t>& always = {});

}  // namespace odb
