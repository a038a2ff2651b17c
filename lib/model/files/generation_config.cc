#include "model/files/generation_config.h"

#include <algorithm>

#include "base/strict_json.h"

namespace odb {

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
