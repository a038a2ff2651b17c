#include "model/model_options.h"

#include "base/options/choices.h"

namespace odb {

const char* name(ComputeType value) {
  return value == ComputeType::fp32 ? "fp32" : "bf16";
}
const char* name(Recompute value) {
  return value == Recompute::none ? "none" : "block";
}
const char* name(Initialization value) {
  return value == Initialization::pretrained ? "pretrained" : "random";
}

void describe(OptionTable& table, ModelOptions& options) {
  table.group("model");
  table.add("model", options.model)
      .help("folder of the model: config.json, and *.safetensors unless --init random");
  table.add("dtype", options.dtype, named({ComputeType::fp32, ComputeType::bf16}))
      .help("type of activations and products; weights, sums and gradients of weights stay fp32");
  table.add("recompute", options.recompute, named({Recompute::none, Recompute::block}))
      .help("block: keep only each block's input and compute the block again in backward");
  table.add("init", options.init, named({Initialization::pretrained, Initialization::random}))
      .help("weights from the model's files, or drawn from the seed");
}

}  // namespace odb
