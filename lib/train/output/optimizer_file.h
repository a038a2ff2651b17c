// The optimizer's state on disk: optimizer/state.safetensors of a checkpoint. fp32 tensors by the
// names of Optimizer::state(), and the number of updates as metadata.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <torch/types.h>

#include "base/files.h"

namespace odb {

struct OptimizerState {
  std::map<std::string, torch::Tensor> tensors;  // fp32, by name; empty for plain SGD
  std::int64_t updates = 0;
};

// Writes the file durably; creates `folder`. Equal states give equal bytes. FileError.
void write_optimizer_state(FileSystem& files, const std::string& folder,
                           const OptimizerState& state);

// On the CPU. FileError: it is missing, damaged, or holds something else.
OptimizerState read_optimizer_state(FileSystem& files, const std::string& folder);

}  // namespace odb
