// Maps published weight names to ours. Hugging Face files hold q, k and v, and gate and up, as
// separate matrices; the model multiplies each set at once, so its parameters are these matrices
// stacked. Every published tensor is a range of whole rows of one parameter: no copy is needed to
// split or join.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/files/config.h"
#include "model/files/safetensors.h"

namespace odb {

inline constexpr std::string_view kHeadName = "lm_head.weight";

// "model.layers.0.self_attn.k_proj.weight" -> rows first_row .. of "blocks.0.qkv".
struct PublishedWeight {
  std::string name;
  TensorShape shape;  // [rows, columns] or [rows]
  std::string parameter;
  std::int64_t first_row = 0;
};

// In the order of the model: embedding, blocks, final norm, and the head where it is not tied.
std::vector<PublishedWeight> published_weights(const ModelConfig& config);

struct ParameterShape {
  std::string name;  // "embedding", "blocks.0.qkv", ..., "final_norm", "head"
  TensorShape shape;
};
// The parameters of the model, in the same order.
std::vector<ParameterShape> parameter_shapes(const ModelConfig& config);
// Values of all of them; a tied head counts once.
std::int64_t parameter_count(const ModelConfig& config);

// Tables that old files hold and every reader rebuilds (rotary frequencies).
bool is_rebuilt(std::string_view name);

}  // namespace odb
