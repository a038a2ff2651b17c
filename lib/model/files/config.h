// What a model is, from the config.json of a Hugging Face model folder: dense decoders of the
// Qwen3, Qwen2 (also 2.5) and Llama families, which differ in little more than the values below.
//
// Missing keys get the family's defaults in transformers 4.57. What this project does not compute
// (sliding windows, dropout, other activations, quantized weights, unknown rope types) is refused
// by name: a model that loads is the model that was meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace odb {

enum class ModelFamily { qwen3, qwen2, llama };
std::string_view name(ModelFamily family);  // "qwen3", as model_type spells it

// Rotary position embedding, and how it is stretched beyond the length it was trained for.
enum class RopeType { plain, linear, dynamic, llama3, yarn };
std::string_view name(RopeType type);  // "default", "linear", ...

struct RopeConfig {
  RopeType type = RopeType::plain;
  double theta = 10000;
  double factor = 1;                 // all types but plain
  std::int64_t original_length = 0;  // llama3, yarn, dynamic: positions before stretching
  double low_frequency_factor = 1;   // llama3
  double high_frequency_factor = 4;  // llama3
  double fast_rotations = 32;        // yarn: beta_fast
  double slow_rotations = 1;         // yarn: beta_slow
  bool truncate = true;              // yarn: correction range rounded to whole dimensions
  double attention_factor = 1;       // yarn: both tables are multiplied by it

  friend bool operator==(const RopeConfig&, const RopeConfig&) = default;
};

struct ModelConfig {
  ModelFamily family = ModelFamily::qwen3;
  std::int64_t vocabulary_size = 0;  // rows of the embedding; may exceed the tokenizer's
  std::int64_t hidden_size = 0;
  std::int64_t intermediate_size = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t key_value_heads = 0;  // divides heads
  std::int64_t head_size = 0;        // even; heads * head_size need not be hidden_size
  std::int64_t max_length = 0;       // max_position_embeddings: reported, not enforced
  double norm_epsilon = 1e-6;
  double initializer_range = 0.02;
  bool tied_embeddings = false;  // the output head is the embedding
  bool query_key_norm = false;   // RMSNorm of each query and key head (Qwen3)
  bool qkv_bias = false;
  bool output_bias = false;  // of the attention's output projection
  bool mlp_bias = false;
  RopeConfig rope;
  std::vector<std::int64_t> end_tokens;  // eos_token_id, one or several; may be empty
  std::string json;                      // the text this was read from

  std::int64_t query_width() const { return heads * head_size; }
  std::int64_t key_value_width() const { return key_value_heads * head_size; }
};

// Throws FileError that begins with `where` and names the key, the found and the expected value.
ModelConfig parse_model_config(std::string_view json, const std::string& where);
// The config.json of a model folder.
ModelConfig read_model_config(FileSystem& files, const std::string& folder);

// `config.json` for weights of a type like "float32" (dtype, torch_dtype): other keys stay.
std::string config_json_with_dtype(const ModelConfig& config, const std::string& dtype);

}  // namespace odb
