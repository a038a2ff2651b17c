#include "model/model_report.h"

#include <set>

#include <fmt/ranges.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json_reader.h"
#include "model/files/weight_names.h"

namespace odb {
namespace {

void add_files(ModelReport& report, const StoredWeights& stored) {
  std::set<std::string> paths;
  std::set<std::string_view> types;
  for (const auto& [name, tensor] : stored) {
    paths.insert(tensor.path);
    types.insert(odb::name(tensor.info.type));
    report.bytes += tensor.info.bytes();
  }
  report.files = static_cast<std::int64_t>(paths.size());
  report.types = fmt::format("{}", fmt::join(types, " and "));
}

std::string architecture_text(const ModelConfig& config) {
  std::vector<std::string> extras;
  if (config.query_key_norm) extras.emplace_back("query and key norms");
  if (config.qkv_bias) extras.emplace_back("query, key and value biases");
  if (config.output_bias) extras.emplace_back("attention output bias");
  if (config.mlp_bias) extras.emplace_back("feed-forward biases");
  extras.emplace_back(config.tied_embeddings ? "head tied to the embedding" : "head of its own");
  return fmt::format(
      "{}: {} layers, hidden {}, {} heads of {} ({} for keys and values), feed-forward {}, "
      "vocabulary {}\n{}\n",
      name(config.family), config.layers, config.hidden_size, config.heads, config.head_size,
      config.key_value_heads, config.intermediate_size, config.vocabulary_size,
      fmt::join(extras, ", "));
}

std::string rope_text(const RopeConfig& rope) {
  std::string text = fmt::format("rope {}, base {}", name(rope.type), rope.theta);
  if (rope.type != RopeType::plain)
    text += fmt::format(", factor {} over {} positions", rope.factor, rope.original_length);
  return text + "\n";
}

std::string size(std::int64_t bytes) {
  return format_bytes(static_cast<std::uint64_t>(bytes));
}

}  // namespace

ModelReport inspect_model(FileSystem& files, const std::string& folder, const ModelOptions& options,
                          std::int64_t tokens) {
  ModelReport report{.folder = folder, .config = read_model_config(files, folder)};
  report.tokens = tokens;
  report.memory = estimate_memory(report.config, options, tokens);
  if (options.init == Initialization::random) return report;
  try {
    const StoredWeights stored = open_stored_weights(files, folder);
    add_files(report, stored);
    report.check = check_weights(report.config, stored);
  } catch (const FileError& error) {
    report.check.problems.emplace_back(error.what());
  }
  return report;
}

std::string report_text(const ModelReport& report) {
  const MemoryEstimate& memory = report.memory;
  std::string text = fmt::format("{}\n", report.folder) + architecture_text(report.config) +
                     rope_text(report.config.rope);
  text += fmt::format("{} parameters", parameter_count(report.config));
  if (report.files > 0)
    text +=
        fmt::format("; files: {}, {} ({})", report.files, format_bytes(report.bytes), report.types);
  text += "\n";
  text += fmt::format(
      "memory of a rank in training, micro-batches of {} tokens: {}\n"
      "  weights {}, gradients {}, optimizer {}, bf16 copies {}, activations {}, working space {}, "
      "the process {}\n",
      report.tokens, size(memory.total()), size(memory.weights), size(memory.gradients),
      size(memory.optimizer), size(memory.copies), size(memory.activations), size(memory.working),
      size(memory.process));
  for (const std::string& warning : first_of(report.check.warnings))
    text += fmt::format("warning: {}\n", warning);
  for (const std::string& problem : first_of(report.check.problems))
    text += fmt::format("wrong: {}\n", problem);
  return text;
}

std::string report_json(const ModelReport& report) {
  const ModelConfig& config = report.config;
  const MemoryEstimate& memory = report.memory;
  const Json json = {{"folder", report.folder},
                     {"family", name(config.family)},
                     {"parameters", parameter_count(config)},
                     {"layers", config.layers},
                     {"hidden_size", config.hidden_size},
                     {"heads", config.heads},
                     {"key_value_heads", config.key_value_heads},
                     {"head_size", config.head_size},
                     {"intermediate_size", config.intermediate_size},
                     {"vocabulary_size", config.vocabulary_size},
                     {"tied_embeddings", config.tied_embeddings},
                     {"rope_type", name(config.rope.type)},
                     {"rope_theta", config.rope.theta},
                     {"files", report.files},
                     {"bytes", report.bytes},
                     {"types", report.types},
                     {"tokens", report.tokens},
                     {"memory_bytes",
                      {{"weights", memory.weights},
                       {"gradients", memory.gradients},
                       {"optimizer", memory.optimizer},
                       {"copies", memory.copies},
                       {"activations", memory.activations},
                       {"working", memory.working},
                       {"process", memory.process},
                       {"total", memory.total()}}},
                     {"warnings", report.check.warnings},
                     {"problems", report.check.problems}};
  // A folder's name may be any bytes.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace odb
