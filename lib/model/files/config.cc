#include "model/files/config.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/json_reader.h"
#include "model/files/rope_config.h"

namespace odb {
namespace {

// Generous limits that keep every product of sizes within 63 bits.
constexpr std::int64_t kMaxVocabulary = std::int64_t{1} << 31;
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 20;
constexpr std::int64_t kMaxIntermediate = std::int64_t{1} << 22;
constexpr std::int64_t kMaxLayers = 4096;
constexpr std::int64_t kMaxHeads = 4096;
constexpr std::int64_t kMaxHeadSize = 1024;
constexpr std::int64_t kMaxPositions = std::int64_t{1} << 40;

constexpr std::array<std::pair<std::string_view, ModelFamily>, 3> kFamilies{
    {{"qwen3", ModelFamily::qwen3}, {"qwen2", ModelFamily::qwen2}, {"llama", ModelFamily::llama}}};

ModelFamily read_family(const JsonObjectReader& config) {
  const auto name = config.text_or_none("model_type");
  for (const auto& [known, family] : kFamilies)
    if (name == known) return family;
  config.refuse("model_type", "one of qwen3, qwen2, llama");
}

// Refuses settings under which the same weights would be another model.
void refuse_what_is_not_computed(const JsonObjectReader& config, std::int64_t layers) {
  if (config.text_or_none("hidden_act").value_or("silu") != "silu")
    config.refuse("hidden_act", "silu");
  if (config.positive_or_none("partial_rotary_factor").value_or(1) != 1)
    config.refuse("partial_rotary_factor", "1");
  if (config.has("quantization_config"))
    config.refuse("quantization_config", "nothing: quantized weights cannot be trained here");
  const Json* dropout = config.find("attention_dropout");
  if (dropout != nullptr && (!dropout->is_number() || dropout->get<double>() != 0))
    config.refuse("attention_dropout", "0");
  const bool slides =
      config.boolean("use_sliding_window", false) && !config.is_null("sliding_window") &&
      config.integer_or_none("max_window_layers", 0, kMaxPositions).value_or(28) < layers;
  const Json* kinds = config.find("layer_types");
  if (kinds == nullptr) {
    if (slides) config.refuse("use_sliding_window", "false: sliding windows are not supported");
    return;
  }
  if (!kinds->is_array() || static_cast<std::int64_t>(kinds->size()) != layers)
    config.refuse("layer_types", fmt::format("a list of {} names", layers));
  for (const Json& kind : *kinds)
    if (kind != "full_attention")
      throw FileError("{}: layer_types: found {}, expected \"full_attention\" for every layer",
                      config.where(), found_json(kind));
}

void read_sizes(const JsonObjectReader& config, ModelConfig& model) {
  model.vocabulary_size = config.integer("vocab_size", 1, kMaxVocabulary);
  model.hidden_size = config.integer("hidden_size", 1, kMaxWidth);
  model.intermediate_size = config.integer("intermediate_size", 1, kMaxIntermediate);
  model.layers = config.integer("num_hidden_layers", 1, kMaxLayers);
  model.heads = config.integer("num_attention_heads", 1, kMaxHeads);
  model.key_value_heads =
      config.integer_or_none("num_key_value_heads", 1, kMaxHeads).value_or(model.heads);
  if (model.heads % model.key_value_heads != 0)
    config.refuse("num_key_value_heads",
                  fmt::format("a divisor of num_attention_heads ({})", model.heads));
  // Never hidden_size / heads for Qwen3: its default is 128.
  const bool divided = model.family != ModelFamily::qwen3;
  model.head_size = config.integer_or_none("head_dim", 2, kMaxHeadSize)
                        .value_or(divided ? model.hidden_size / model.heads : 128);
  if (model.head_size % 2 != 0 || model.head_size > kMaxHeadSize || model.head_size < 2)
    throw FileError("{}: heads of {} values; expected an even number from 2 to {}", config.where(),
                    model.head_size, kMaxHeadSize);
  const std::int64_t usual_length = model.family == ModelFamily::llama ? 2048 : 32768;
  model.max_length =
      config.integer_or_none("max_position_embeddings", 1, kMaxPositions).value_or(usual_length);
}

void read_biases(const JsonObjectReader& config, ModelConfig& model) {
  const bool bias = config.boolean("attention_bias", false);
  model.qkv_bias = bias || model.family == ModelFamily::qwen2;
  model.output_bias = bias && model.family != ModelFamily::qwen2;
  model.mlp_bias = model.family == ModelFamily::llama && config.boolean("mlp_bias", false);
}

}  // namespace

std::string_view name(ModelFamily family) {
  for (const auto& [name, known] : kFamilies)
    if (known == family) return name;
  throw InternalError("a model family without a name");
}

ModelConfig parse_model_config(std::string_view json, const std::string& where) {
  const Json object = parse_strict_object(json, where);
  const JsonObjectReader config(object, where);
  ModelConfig model;
  model.json = json;
  model.family = read_family(config);
  model.query_key_norm = model.family == ModelFamily::qwen3;
  read_sizes(config, model);
  read_biases(config, model);
  model.norm_epsilon = config.positive_or_none("rms_norm_eps").value_or(1e-6);
  model.initializer_range = config.positive_or_none("initializer_range").value_or(0.02);
  model.tied_embeddings = config.boolean("tie_word_embeddings", false);
  model.rope = read_rope_config(config, model.max_length);
  model.end_tokens = config.integers("eos_token_id", 0, model.vocabulary_size - 1);
  refuse_what_is_not_computed(config, model.layers);
  return model;
}

ModelConfig read_model_config(FileSystem& files, const std::string& folder) {
  if (!files.is_folder(folder))
    throw FileError(
        "{}: no such folder; expected one with config.json, *.safetensors and tokenizer.json, in "
        "the layout of Hugging Face (nothing is downloaded)",
        folder);
  const std::string path = join_path(folder, "config.json");
  const std::string json = files.read_all(path);
  if (json.find("\"model_type\"") == std::string::npos &&
      files.is_folder(join_path(folder, "checkpoints")))
    throw FileError("{} is the folder of a run, not a model; name a checkpoint in it: {}", folder,
                    join_path(folder, "checkpoints/step-..."));
  return parse_model_config(json, path);
}

std::string config_json_with_dtype(const ModelConfig& config, const std::string& dtype) {
  Json json = parse_strict_object(config.json, "config.json");
  for (const char* key : {"dtype", "torch_dtype"})
    if (json.contains(key)) json[key] = dtype;
  if (!json.contains("dtype")) json["torch_dtype"] = dtype;
  return json.dump(2) + "\n";
}

}  // namespace odb
