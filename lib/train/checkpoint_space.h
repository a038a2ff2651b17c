// Whether the file system of a run has room for its checkpoints: asked before the first step, for
// hours of work would be lost by a save that cannot succeed; and told when a save has failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/files.h"
#include "train/train_options.h"

namespace odb {

// Bytes of a checkpoint of weights that take `weights` bytes (fp32): they and the optimizer's
// state. What else is in it is small beside them and not counted.
std::uint64_t checkpoint_bytes(std::uint64_t weights, const OptimizerOptions& optimizer);

// Bytes free for a run in `output`, which need not exist yet; nothing: its file system does not
// tell. `overwrite`: with those of the run there, which goes first. FileError.
std::optional<std::uint64_t> space_for_run(FileSystem& files, const std::string& output,
                                           bool overwrite);

// Bytes of what a run wrote in `output`: what --overwrite frees there. Links count as nothing, and
// so does what vanishes meanwhile, for another process may own that run still. FileError.
std::uint64_t bytes_of_run(FileSystem& files, const std::string& output);

// FileError with both amounts unless there is room for a checkpoint of `wanted` bytes, or it is not
// known. Changes nothing.
void require_space(FileSystem& files, const std::string& output, bool overwrite,
                   std::uint64_t wanted);

// What to add to the message of a save into `folder` that failed: "; a checkpoint takes about ...".
// Empty where it has room for `wanted` bytes now, or cannot be asked.
std::string lack_of_space(FileSystem& files, const std::string& folder, std::uint64_t wanted);

}  // namespace odb
