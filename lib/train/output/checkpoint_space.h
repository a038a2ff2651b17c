// Whether the file system of a run has room for its checkpoints. Checked before the first step, so
// that hours of work are not lost to a save that cannot succeed, and reported when a save fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/files.h"
#include "train/step/optimizer_options.h"

namespace odb {

// Bytes of a checkpoint whose weights take `weights` bytes (fp32): weights and optimizer state. The
// other files are small in comparison and not counted.
std::uint64_t checkpoint_bytes(std::uint64_t weights, const OptimizerOptions& optimizer);

// Bytes free for a run in `output`, which need not exist yet; nothing: its file system does not
// report them. `overwrite`: includes the bytes of the run there, which is removed first. FileError.
std::optional<std::uint64_t> space_for_run(FileSystem& files, const std::string& output,
                                           bool overwrite);

// Bytes that a run wrote in `output`, which --overwrite frees. Links count as 0, and so does what
// vanishes meanwhile, because another process may still own that run. FileError.
std::uint64_t bytes_of_run(FileSystem& files, const std::string& output);

// FileError with both amounts if the free space is known and less than `needed` bytes. Changes
// nothing.
void require_space(FileSystem& files, const std::string& output, bool overwrite,
                   std::uint64_t needed);

// The text to append to the message of a failed save into `folder`: "; a checkpoint takes about
// ...". Empty if `needed` bytes are free now, or the free space is not known.
std::string lack_of_space(FileSystem& files, const std::string& folder, std::uint64_t needed);

}  // namespace odb
