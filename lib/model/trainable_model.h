// What a training needs of a model, whichever it is: losses, parameters, and its folder on disk.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <torch/types.h>

#include "base/files.h"
#include "model/files/config.h"
#include "model/micro_batch.h"
#include "model/model_options.h"

namespace odb {

// One part of a loss, of one micro-batch.
struct LossPart {
  std::string name;        // "token"; of a model with several parts, "video"
  torch::Tensor sum;       // 0-d, fp32, weighted; backward() gives gradients of the sum
  std::int64_t count = 0;  // units that it is a sum over: supervised tokens, frames
};

// All parts have the same count, so that one division at the end of a step makes the gradient of
// the sum of all means. The order is always the same.
using LossParts = std::vector<LossPart>;

using Weights = std::map<std::string, torch::Tensor>;

class TrainableModel {
 public:
  virtual ~TrainableModel() = default;

  // The weighted loss sums of a micro-batch whose tokens have arrived; at least one part.
  // DataError: the batch is not for this model (checked on the CPU only: on a GPU the check would
  // wait for the device).
  virtual LossParts loss(const MicroBatch& batch) = 0;

  // All parameters by name, fp32, the same on every rank. The tensors are those of the model.
  virtual const Weights& weights() const = 0;
  // Their names in the order of use in the forward pass: gradients are reduced in that order,
  // backwards.
  virtual std::vector<std::string> weight_order() const = 0;
  // Whether it gets a gradient and is updated.
  virtual bool is_trainable(const std::string& /*name*/) const { return true; }

  // Fills all weights from the files of `folder`, and checks that they are finite. FileError.
  virtual void load(FileSystem& files, const std::string& folder) = 0;
  // Fills all weights by random numbers, the same on every rank and device.
  virtual void initialize(std::uint64_t seed) = 0;
  // Writes a folder that load() and other tools read. `weights`: ours by name, or a copy of them on
  // the CPU; they must not change meanwhile. Equal weights give equal bytes. Any thread. FileError;
  // what was written so far stays.
  virtual void save(FileSystem& files, const std::string& folder, const Weights& weights) const = 0;
};

// The parameters that are trained, by name; and in the order of use.
Weights trainable_weights(const TrainableModel& model);
std::vector<torch::Tensor> trainable_tensors(const TrainableModel& model);
// All of them, in the order of use.
std::vector<torch::Tensor> all_tensors(const TrainableModel& model);

// The model that `config` describes, on `device`, with its weights not yet filled.
std::unique_ptr<TrainableModel> make_model(const ModelConfig& config, const ModelOptions& options,
                                           torch::Device device);

}  // namespace odb
