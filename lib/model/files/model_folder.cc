#include "model/files/model_folder.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/json_reader.h"

namespace odb {

void copy_auxiliary_files(FileSystem& files, const std::string& from, const std::string& to) {
  constexpr std::array kNames = {"tokenizer.json",
                                 "tokenizer.model",
                                 "tokenizer_config.json",
                                 "vocab.json",
                                 "merges.txt",
                                 "added_tokens.json",
                                 "special_tokens_map.json",
                                 "chat_template.jinja",
                                 "chat_template.json",
                                 "generation_config.json"};
  for (const char* name : kNames) {
    const std::string path = join_path(from, name);
    if (files.exists(path)) files.write_durably(join_path(to, name), files.read_all(path));
  }
}

std::vector<std::int64_t> read_end_tokens(FileSystem& files, const std::string& folder,
                                          const ModelConfig& config) {
  std::vector<std::int64_t> tokens = config.end_tokens;
  const std::string path = join_path(folder, "generation_config.json");
  if (!files.exists(path)) return tokens;
  const Json object = parse_strict_object(files.read_all(path), path);
  for (const std::int64_t token :
       JsonObjectReader(object, path).integers("eos_token_id", 0, config.vocabulary_size - 1))
    if (std::ranges::find(tokens, token) == tokens.end()) tokens.push_back(token);
  return tokens;
}

}  // namespace odb
