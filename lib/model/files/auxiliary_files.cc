#include "model/files/auxiliary_files.h"

#include <array>

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

}  // namespace odb
