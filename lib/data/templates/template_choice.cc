#include "data/templates/template_choice.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/checksum.h"
#include "base/error.h"
#include "data/templates/jinja_text.h"

namespace odb {
namespace {

struct KnownTemplate {
  std::string_view hash;
  std::string_view name;
};

// Written by tests/golden/make_chat_golden.py --hashes, which also names the source of each text.
constexpr KnownTemplate kKnown[] = {
    {"4457e3d12b367a860283f874ff58d644", "qwen3"},  // as first released
    {"0fab82ce8f4d5175c9e0155c80737cf2", "qwen3"},
    {"cc9ddd5a40bc1c0c8fb5d937b1e8f5d0", "qwen3-instruct"},
    {"e392aa06018503fd2469c9508f79506e", "qwen2.5"},
    {"09facc0e4aa943189799ad6e2dea0594", "llama3"},
    {"9ddcd6cd71f96dd76ca7779b7730196a", "llama3.1"},  // 3.1 and 3.3
    {"573e1bcc8c56f178c3d57e38f5ff0756", "llama3.1"},  // 3.2
};

std::string token_text(const nlohmann::json& config, const std::string& key,
                       const std::string& path) {
  const auto found = config.find(key);
  if (found == config.end() || found->is_null()) return "";
  if (found->is_string()) return found->get<std::string>();
  if (found->is_object() && found->contains("content") && found->at("content").is_string())
    return found->at("content").get<std::string>();
  throw DataError("{}: {}: found {}; expected a token's text", path, key, found->dump());
}

std::optional<std::string> template_text(const nlohmann::json& config, const std::string& path) {
  const auto found = config.find("chat_template");
  if (found == config.end() || found->is_null()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  std::vector<std::string> names;
  if (found->is_array()) {
    for (const nlohmann::json& item : *found) {
      if (!item.is_object() || !item.contains("template") || !item["template"].is_string())
        continue;
      names.push_back(item.value("name", ""));
      if (names.back() == "default") return item["template"].get<std::string>();
    }
  }
  throw DataError("{}: chat_template: found {}; expected a text or a list with one named 'default'",
                  path,
                  names.empty() ? std::string(found->type_name())
                                : fmt::format("templates named {}", fmt::join(names, ", ")));
}

class NoTemplate final : public ChatTemplate {
 public:
  void render(const Conversation&, Rendering&) const override {
    throw InternalError("a conversation, although --data-format excludes them");
  }
};

std::string known_names() {
  return fmt::format("{}", fmt::join(chat_template_names(), ", "));
}

}  // namespace

TokenizerConfig read_tokenizer_config(FileSystem& files, const std::string& folder) {
  TokenizerConfig result{.folder = folder};
  const std::string path = join_path(folder, "tokenizer_config.json");
  if (files.exists(path)) {
    const auto config = nlohmann::json::parse(files.read_all(path), nullptr, false);
    if (!config.is_object()) throw DataError("{}: found no JSON object in it", path);
    result.chat_template = template_text(config, path);
    result.eos_token = token_text(config, "eos_token", path);
  }
  const std::string jinja = join_path(folder, "chat_template.jinja");
  if (files.exists(jinja)) result.chat_template = files.read_all(jinja);
  return result;
}

std::string template_hash(std::string_view text) {
  std::string normal;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text.substr(i, 2) != "\r\n") normal += text[i];
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = normal.find_first_not_of(kBlanks);
  if (first == std::string::npos) return to_hex(checksum128(""));
  const std::size_t last = normal.find_last_not_of(kBlanks);
  return to_hex(checksum128(std::string_view(normal).substr(first, last + 1 - first)));
}

std::optional<std::string> known_template(std::string_view hash) {
  const auto* const found =
      std::find_if(std::begin(kKnown), std::end(kKnown),
                   [&](const KnownTemplate& known) { return known.hash == hash; });
  if (found != std::end(kKnown)) return std::string(found->name);
  for (const std::string& name : chat_template_names())
    if (template_hash(jinja_text(name)) == hash) return name;
  return std::nullopt;
}

namespace {

ChosenTemplate choose(const std::string& option, const TokenizerConfig& config,
                      const FindToken& find) {
  const TemplateTokens tokens{.find = find, .eos_token = config.eos_token};
  if (option != "auto")
    return {.name = option, .chat_template = make_chat_template(option, tokens)};
  if (config.chat_template) {
    const std::string hash = template_hash(*config.chat_template);
    const auto name = known_template(hash);
    if (!name)
      throw DataError(
          "{}: its chat template (hash {}) is none of the known ones: {}; if one of them gives the "
          "same text, select it with --chat-template",
          config.folder, hash, known_names());
    return {.name = *name, .chat_template = make_chat_template(*name, tokens)};
  }
  if (find("<|im_start|>") && find("<|im_end|>"))
    return {.name = "chatml",
            .chat_template = make_chat_template("chatml", tokens),
            .notice = fmt::format("{} has no chat template; using ChatML, because its tokens exist "
                                  "(choose another with --chat-template)",
                                  config.folder)};
  throw DataError(
      "{}: has no chat template and not the tokens of ChatML; select one of {} with "
      "--chat-template, or use --data-format text or tokens if the records are not conversations",
      config.folder, known_names());
}

// Whether the tokenizer's own text gives what `name` gives, on any day.
bool is_own(const std::string& name, const TokenizerConfig& config) {
  return config.chat_template && known_template(template_hash(*config.chat_template)) == name &&
         config.chat_template->find("strftime_now") == std::string::npos;
}

}  // namespace

ChosenTemplate choose_template(const std::string& option, const TokenizerConfig& config,
                               const FindToken& find) {
  ChosenTemplate chosen = choose(option, config, find);
  if (!is_own(chosen.name, config)) chosen.jinja = jinja_text(chosen.name);
  return chosen;
}

ChosenTemplate no_template() {
  return {.name = "none", .chat_template = std::make_unique<NoTemplate>(), .has_text = false};
}

}  // namespace odb
