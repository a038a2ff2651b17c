// The options of group "model" that say how a model is created and computed.
#pragma once

#include <string>

#include "base/options/table.h"

namespace odb {

enum class ComputeType { fp32, bf16 };
enum class Recompute { none, block };
enum class Initialization { pretrained, random };

// As the options spell it.
const char* name(ComputeType value);
const char* name(Recompute value);
const char* name(Initialization value);

struct ModelOptions {
  std::string model;  // folder with config.json and weights
  ComputeType dtype = ComputeType::fp32;
  Recompute recompute = Recompute::none;
  Initialization init = Initialization::pretrained;
};

void describe(OptionTable& table, ModelOptions& options);

}  // namespace odb
