// export: writes the model of a checkpoint (or any model folder) to a folder that other tools load.
#include <filesystem>
#include <map>

#include <fmt/core.h>

#include "base/error.h"
#include "base/options/command_line.h"
#include "base/real_file_system.h"
#include "commands.h"
#include "model/files/model_folder.h"
#include "model/language_model.h"
#include "model/weights_io.h"

namespace odb {
namespace {

enum class ExportType { stored, fp32, bf16, fp16 };

struct ExportOptions {
  ExportType dtype = ExportType::stored;
  ByteSize max_shard_size{std::int64_t{5} * 1000 * 1000 * 1000};
};

void describe(OptionTable& table, ExportOptions& options) {
  table.group("export");
  table
      .add("dtype", options.dtype,
           {{"stored", ExportType::stored},
            {"fp32", ExportType::fp32},
            {"bf16", ExportType::bf16},
            {"fp16", ExportType::fp16}})
      .help("type of the weights; stored: unchanged, fp32 if they have several types");
  table.add("max-shard-size", options.max_shard_size)
      .at_least(ByteSize{1})
      .help("larger models are split into files of at most this size");
}

TensorType type_of(ExportType requested, const ModelConfig& config, const StoredWeights& stored) {
  if (requested == ExportType::fp32) return TensorType::f32;
  if (requested == ExportType::bf16) return TensorType::bf16;
  if (requested == ExportType::fp16) return TensorType::f16;
  return type_of_weights(config, stored);
}

}  // namespace

int export_command(const Arguments& arguments) {
  ExportOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{.name = "export",
                           .summary =
                               "Writes the model of CHECKPOINT, a checkpoint or model "
                               "folder, to the folder OUT as safetensors with config.json "
                               "and the tokenizer's files: it loads in transformers.",
                           .positional = "CHECKPOINT OUT",
                           .takes_config = false};
  const auto positional = parse_command_line(table, usage, arguments);
  if (!positional) return 0;
  if (positional->size() != 2)
    throw UsageError("export: found {} arguments, expected two folders: CHECKPOINT OUT",
                     positional->size());
  const std::string& from = positional->at(0);
  const std::string& to = positional->at(1);

  RealFileSystem files;
  if (files.exists(to) && (!files.is_folder(to) || !files.list(to).empty()))
    throw UsageError("export: {} exists and is not empty; give a new folder", to);
  LanguageModel model(read_model_config(files, from), {});
  load_weights(files, from, model);  // refuses a folder without weights
  const TensorType type = type_of(options.dtype, model.config(), open_stored_weights(files, from));
  save_model(files, to, model.config(), model.weights(),
             {.type = type, .max_shard_bytes = options.max_shard_size.bytes});
  copy_auxiliary_files(files, from, to);
  fmt::print("exported to {}, weights in {}\n", to, name(type));
  return 0;
}

}  // namespace odb
