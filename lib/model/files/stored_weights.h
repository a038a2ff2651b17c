// The weights of a model folder on disk: which tensor lies in which file, at which bytes.
//
// Either one model.safetensors, or shards with model.safetensors.index.json, as transformers writes
// them. Opening reads all headers and compares them with an index that is there, so a missing, cut
// or foreign file is named before anything is loaded. Files are read, not mapped: one that is cut
// meanwhile kills the process, and its pages would count as memory of this process.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "model/files/config.h"
#include "model/files/safetensors.h"

namespace odb {

struct StoredTensor {
  std::string path;  // of its file
  TensorInfo info;
};

// By name, without a prefix `_orig_mod.` or `module.` that all have; info.name is as in the file.
using StoredWeights = std::map<std::string, StoredTensor>;

// Throws FileError that names the file (of a missing shard: the file that the index asks for).
StoredWeights open_stored_weights(FileSystem& files, const std::string& folder);

// Whether the folder has weight files, whole or not.
bool holds_weights(FileSystem& files, const std::string& folder);

// The index of a sharded folder: tensor name -> file name. Refuses names that leave the folder.
std::map<std::string, std::string> parse_weight_index(std::string_view json,
                                                      const std::string& where);

// The differences between a model and its files. `problems` forbid loading; `warnings` do not.
struct WeightCheck {
  std::vector<std::string> problems;
  std::vector<std::string> warnings;
};
WeightCheck check_weights(const ModelConfig& config, const StoredWeights& stored);
// The type of the model's weights, F32 where they have several. Tensors that are not part of the
// model (tables that are rebuilt, the unused head of a tied model) do not count.
TensorType type_of_weights(const ModelConfig& config, const StoredWeights& stored);
// The printed part of such a list: the first ten, then "and N more".
std::vector<std::string> first_of(const std::vector<std::string>& found);
// Throws FileError with the first problems; `folder` says where.
void require_weights(const WeightCheck& check, const std::string& folder);

}  // namespace odb
