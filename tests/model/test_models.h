// Small configurations and weight files that tests write themselves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "model/files/config.h"

namespace odb {

// A whole config.json of a tiny Qwen3; tests change keys of it.
inline nlohmann::ordered_json tiny_config() {
  return {{"model_type", "qwen3"},
          {"vocab_size", 20},
          {"hidden_size", 8},
          {"intermediate_size", 12},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 4},
          {"num_key_value_heads", 2},
          {"head_dim", 4},
          {"rope_theta", 1000000.0},
          {"max_position_embeddings", 64},
          {"tie_word_embeddings", false}};
}

inline ModelConfig parse(const nlohmann::ordered_json& json) {
  return parse_model_config(json.dump(), "config.json");
}

// The bytes of a safetensors file with this header and this many bytes of data.
inline std::string safetensors_bytes(const std::string& header, std::size_t data) {
  std::string bytes;
  append_little_endian(bytes, static_cast<std::uint64_t>(header.size()));
  return bytes + header + std::string(data, '\1');
}

}  // namespace odb
