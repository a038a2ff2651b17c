#include "model/files/weight_names.h"

#include <fmt/format.h>

namespace odb {
namespace {

class WeightList {
 public:
  // Rows below what the parameter holds so far.
  void add(std::string name, TensorShape shape, const std::string& parameter) {
    const bool goes_on = !weights_.empty() && weights_.back().parameter == parameter;
    const std::int64_t first_row =
        goes_on ? weights_.back().first_row + weights_.back().shape.front() : 0;
    weights_.push_back({std::move(name), std::move(shape), parameter, first_row});
  }
  std::vector<PublishedWeight> take() { return std::move(weights_); }

 private:
  std::vector<PublishedWeight> weights_;
};

void add_attention(const ModelConfig& config, const std::string& published,
                   const std::string& block, WeightList& list) {
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t queries = config.query_width();
  const std::int64_t keys = config.key_value_width();
  const std::string from = published + "self_attn.";
  list.add(from + "q_proj.weight", {queries, hidden}, block + "qkv");
  list.add(from + "k_proj.weight", {keys, hidden}, block + "qkv");
  list.add(from + "v_proj.weight", {keys, hidden}, block + "qkv");
  if (config.qkv_bias) {
    list.add(from + "q_proj.bias", {queries}, block + "qkv_bias");
    list.add(from + "k_proj.bias", {keys}, block + "qkv_bias");
    list.add(from + "v_proj.bias", {keys}, block + "qkv_bias");
  }
  if (config.query_key_norm) {
    list.add(from + "q_norm.weight", {config.head_size}, block + "query_norm");
    list.add(from + "k_norm.weight", {config.head_size}, block + "key_norm");
  }
  list.add(from + "o_proj.weight", {hidden, queries}, block + "attention_out");
  if (config.output_bias) list.add(from + "o_proj.bias", {hidden}, block + "attention_out_bias");
}

void add_mlp(const ModelConfig& config, const std::string& published, const std::string& block,
             WeightList& list) {
  const std::int64_t hidden = config.hidden_size;
  const std::int64_t inner = config.intermediate_size;
  const std::string from = published + "mlp.";
  list.add(from + "gate_proj.weight", {inner, hidden}, block + "gate_up");
  list.add(from + "up_proj.weight", {inner, hidden}, block + "gate_up");
  if (config.mlp_bias) {
    list.add(from + "gate_proj.bias", {inner}, block + "gate_up_bias");
    list.add(from + "up_proj.bias", {inner}, block + "gate_up_bias");
  }
  list.add(from + "down_proj.weight", {hidden, inner}, block + "down");
  if (config.mlp_bias) list.add(from + "down_proj.bias", {hidden}, block + "down_bias");
}

}  // namespace

std::vector<PublishedWeight> published_weights(const ModelConfig& config) {
  WeightList list;
  const TensorShape embedding = {config.vocabulary_size, config.hidden_size};
  list.add("model.embed_tokens.weight", embedding, "embedding");
  for (std::int64_t layer = 0; layer < config.layers; ++layer) {
    const std::string published = fmt::format("model.layers.{}.", layer);
    const std::string block = fmt::format("blocks.{}.", layer);
    list.add(published + "input_layernorm.weight", {config.hidden_size}, block + "attention_norm");
    add_attention(config, published, block, list);
    list.add(published + "post_attention_layernorm.weight", {config.hidden_size},
             block + "mlp_norm");
    add_mlp(config, published, block, list);
  }
  list.add("model.norm.weight", {config.hidden_size}, "final_norm");
  if (!config.tied_embeddings) list.add(std::string(kHeadName), embedding, "head");
  return list.take();
}

std::vector<ParameterShape> parameter_shapes(const ModelConfig& config) {
  std::vector<ParameterShape> shapes;
  for (const PublishedWeight& weight : published_weights(config)) {
    if (weight.first_row == 0)
      shapes.push_back({weight.parameter, weight.shape});
    else
      shapes.back().shape.front() += weight.shape.front();
  }
  return shapes;
}

std::int64_t parameter_count(const ModelConfig& config) {
  std::int64_t count = 0;
  for (const PublishedWeight& weight : published_weights(config)) {
    std::int64_t values = 1;
    for (const std::int64_t length : weight.shape)
      values *= length;
    count += values;
  }
  return count;
}

bool is_rebuilt(std::string_view name) {
  return name.ends_with("rotary_emb.inv_freq");
}

}  // namespace odb
