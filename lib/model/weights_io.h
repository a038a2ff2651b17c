// Weights between a model and its safetensors files.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <torch/types.h>

#include "base/files.h"
#include "model/files/config.h"
#include "model/files/stored_weights.h"
#include "model/files/tensor_type.h"

namespace odb {

class LanguageModel;

// Fills all weights from the folder's files, on all threads, each piece straight into its place
// (bf16 and fp16 are widened on the way). Throws FileError before anything is read when a tensor is
// missing, left over or of another shape. Extra memory: 1 MiB a thread; on a GPU one tensor.
// Warnings go to the log.
void load_weights(FileSystem& files, const std::string& folder, LanguageModel& model);

// Throws FileError when a weight holds values that are not finite. The message names it as in the
// files of `folder`, from which it was loaded. Reads all weights once.
void require_finite(const LanguageModel& model, const std::string& folder);

struct SaveOptions {
  TensorType type = TensorType::f32;  // f32, bf16 or f16
  std::int64_t max_shard_bytes = std::int64_t{5} * 1000 * 1000 * 1000;
};

// Writes model.safetensors, or shards with their index when the weights exceed a shard, and
// config.json, each durably; creates the folder. `weights` are ours by name
// (LanguageModel::weights, or a copy of them on the host); they must not change meanwhile. A tensor
// larger than a shard gets a file of its own. Equal weights give equal bytes. Throws FileError;
// what was written so far stays.
void save_model(FileSystem& files, const std::string& folder, const ModelConfig& config,
                const std::map<std::string, torch::Tensor>& weights,
                const SaveOptions& options = {});

}  // namespace odb
