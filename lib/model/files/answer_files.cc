#include "model/files/answer_files.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/json_reader.h"
#include "model/files/model_folder.h"

namespace odb {
namespace {

using Ids = std::vector<std::int64_t>;

Ids joined(Ids first, const Ids& second) {
  for (const std::int64_t id : second)
    if (std::ranges::find(first, id) == first.end()) first.push_back(id);
  return first;
}

bool holds_all(const Ids& ids, const Ids& wanted) {
  return std::ranges::all_of(wanted,
                             [&](std::int64_t id) { return std::ranges::count(ids, id) > 0; });
}

Json as_json(const Ids& ids) {
  if (ids.size() == 1) return ids.front();
  return ids;
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// The JSON object of a file; nothing if there is no such file.
std::optional<Json> object_in(FileSystem& files, const std::string& path) {
  if (!files.exists(path)) return std::nullopt;
  Json json = Json::parse(files.read_all(path), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) throw FileError("{}: found no JSON object in it", path);
  return json;
}

// A token is a text, or an object that holds it.
bool is_token(const Json& object, const std::string& text) {
  const auto found = object.find("eos_token");
  if (found == object.end()) return false;
  if (found->is_object()) return found->value("content", "") == text;
  return *found == text;
}

void plan_end_tokens(FileSystem& files, const std::string& model, const ModelConfig& config,
                     const Ids& ends, AnswerFiles& answers) {
  const std::string path = join_path(model, "generation_config.json");
  std::optional<Json> generation = object_in(files, path);
  const Ids generation_ends = generation
                                  ? JsonObjectReader(*generation, path)
                                        .integers("eos_token_id", 0, config.vocabulary_size - 1)
                                  : Ids();
  const Ids all = joined(joined(ends, config.end_tokens), generation_ends);
  if (!holds_all(config.end_tokens, ends)) answers.end_tokens = all;
  if (!generation || holds_all(generation_ends, ends)) return;
  (*generation)["eos_token_id"] = as_json(all);
  answers.files["generation_config.json"] = text_of(*generation);
}

void plan_tokenizer(FileSystem& files, const std::string& tokenizer, const AnswerFormat& format,
                    AnswerFiles& answers) {
  const std::string& eos = format.eos_token;
  Json config =
      object_in(files, join_path(tokenizer, "tokenizer_config.json")).value_or(Json::object());
  const bool new_eos = !eos.empty() && !is_token(config, eos);
  if (new_eos) config["eos_token"] = eos;
  if (!format.chat_template.empty()) {
    config["chat_template"] = format.chat_template;
    answers.files["chat_template.jinja"] = format.chat_template;
  }
  if (new_eos || !format.chat_template.empty())
    answers.files["tokenizer_config.json"] = text_of(config);
  // An older place, which comes first where it exists.
  std::optional<Json> map = object_in(files, join_path(tokenizer, "special_tokens_map.json"));
  if (eos.empty() || !map || !map->contains("eos_token") || is_token(*map, eos)) return;
  (*map)["eos_token"] = eos;
  answers.files["special_tokens_map.json"] = text_of(*map);
}

}  // namespace

AnswerFiles plan_answer_files(FileSystem& files, const std::string& model,
                              const std::string& tokenizer, const ModelConfig& config,
                              const AnswerFormat& format) {
  AnswerFiles answers;
  if (!format.end_tokens.empty()) plan_end_tokens(files, model, config, format.end_tokens, answers);
  plan_tokenizer(files, tokenizer, format, answers);
  return answers;
}

void write_answer_files(FileSystem& files, const AnswerFiles& answers, const std::string& folder) {
  for (const auto& [name, content] : answers.files)
    files.write_durably(join_path(folder, name), content);
  const std::string path = join_path(folder, "config.json");
  std::optional<Json> config = answers.end_tokens.empty() ? std::nullopt : object_in(files, path);
  if (!config) return;
  (*config)["eos_token_id"] = as_json(answers.end_tokens);
  files.write_durably(path, text_of(*config));
}

}  // namespace odb
