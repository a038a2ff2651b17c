#include "model/model_options.h"

namespace odb {

void describe(OptionTable& table, ModelOptions& options) {
  table.group("model");
  table.add("model", options.model)
      .help("folder of the model: config.json, and *.safetensors unless --init random");
  table.add("dtype", options.dtype, {{"fp32", ComputeType::fp32}, {"bf16", ComputeType::bf16}})
      .help("type of activations and products; weights, sums and gradients of weights stay fp32");
  table
      .add("recompute", options.recompute, {{"none", Recompute::none}, {"block", Recompute::block}})
      .help("block: keep only each block's input and compute the block again in backward");
  table
      .add("init", options.init,
           {{"pretrained", Initialization::pretrained}, {"random", Initialization::random}})
      .help("weights from the model's files, or drawn from the seed");
}

}  // namespace odb
