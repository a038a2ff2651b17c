// The golden models of tests/golden/model, and the case models, as tests use them.
#pragma once

#include <map>
#include <string>

#include <torch/types.h>

#include "base/real_file_system.h"
#include "model/files/stored_weights.h"
#include "model/language_model.h"
#include "model/layers/rows.h"

namespace odb {

inline const std::string kGoldenModels = ODB_TESTS_FOLDER "/golden/model/";
inline const std::string kCaseModels = ODB_TESTS_FOLDER "/cases/models/";

// All tensors of a safetensors file, in their own types.
std::map<std::string, torch::Tensor> read_tensors(const std::string& path);

// The model of a folder with its weights. Calls LibTorch on one thread from then on.
LanguageModel load_model(const std::string& folder, const ComputeOptions& options = {});

// A flat batch.
struct Batch {
  torch::Tensor tokens;
  torch::Tensor labels;
  RowOffsets rows;
};
Batch golden_batch(const std::map<std::string, torch::Tensor>& answers);
// The same rows, padded on the right to the longest with `padding`; its labels are ignored.
Batch padded(const Batch& batch, std::int64_t padding);
// One row of it.
Batch single_row(const Batch& batch, std::int64_t row);

// Gradients of a model's weights after a backward, by their published names.
std::map<std::string, torch::Tensor> published_gradients(const LanguageModel& model);

// The maximum absolute difference; shapes must agree.
double distance(const torch::Tensor& a, const torch::Tensor& b);

}  // namespace odb
