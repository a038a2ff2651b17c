// The test tokenizer of tests/golden/chat with something changed, in memory or as a folder.
#pragma once

#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace odb {

inline nlohmann::json chat_tokenizer_file() {
  std::ifstream file(std::string(ODB_TESTS_FOLDER) + "/golden/chat/tokenizer/tokenizer.json");
  return nlohmann::json::parse(file);
}

// An added token of the next id, not special.
inline void add_token(nlohmann::json& file, const std::string& content) {
  nlohmann::json token = file["added_tokens"].back();
  token["id"] = token["id"].get<int>() + 1;
  token["content"] = content;
  token["special"] = false;
  file["added_tokens"].push_back(token);
}

inline nlohmann::json& added_token(nlohmann::json& file, const std::string& content) {
  for (nlohmann::json& token : file["added_tokens"])
    if (token["content"] == content) return token;
  throw std::out_of_range(content);
}

}  // namespace odb
