#include "model/files/model_folder.h"

#include <array>

#include "base/json_reader.h"

namespace odb {

namespace {

constexpr std::array kTokenizerFiles = {
    "tokenizer.json",    "tokenizer.model",   "tokenizer_config.json",   "vocab.json",
    "merges.txt",        "added_tokens.json", "special_tokens_map.json", "chat_template.jinja",
    "chat_template.json"};
constexpr const char* kGenerationConfig = "generation_config.json";

void copy_if_there(FileSystem& files, const std::string& from, const std::string& to,
                   const std::string& name) {
  const std::string path = join_path(from, name);
  if (files.exists(path)) files.write_durably(join_path(to, name), files.read_all(path));
}

}  // namespace

void copy_auxiliary_files(FileSystem& files, const std::string& from, const std::string& to) {
  for (const char* name : kTokenizerFiles)
    copy_if_there(files, from, to, name);
  copy_if_there(files, from, to, kGenerationConfig);
}

void copy_auxiliary_files(FileSystem& files, const std::string& model, const std::string& tokenizer,
                          const std::string& to) {
  copy_if_there(files, model, to, kGenerationConfig);
  const bool is_folder = files.is_folder(tokenizer);
  const std::string folder = is_folder ? tokenizer : parent_folder(tokenizer);
  for (const char* name : kTokenizerFiles)
    copy_if_there(files, folder, to, name);
  if (!is_folder) files.write_durably(join_path(to, kTokenizerFiles[0]), files.read_all(tokenizer));
}

std::vector<std::int64_t> read_end_tokens(FileSystem& files, const std::string& folder,
                                          const ModelConfig& config) {
  const std::string path = join_path(folder, kGenerationConfig);
  if (!files.exists(path)) return config.end_tokens;
  const Json object = parse_strict_object(files.read_all(path), path);
  return JsonObjectReader(object, path).integers("eos_token_id", 0, config.vocabulary_size - 1);
}

}  // namespace odb
