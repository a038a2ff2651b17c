#include "tokenizer/file_components.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "tokenizer/component_fields.h"

namespace odb {

using nlohmann::json;

namespace {

TokenId parse_id(const json& value, const std::string& where) {
  if (!value.is_number_unsigned() ||
      value.get<std::uint64_t>() > std::numeric_limits<TokenId>::max()) {
    throw DataError("{}: the id {} is not a number from 0 to {}", where, value.dump(),
                    std::numeric_limits<TokenId>::max());
  }
  return static_cast<TokenId>(value.get<std::uint64_t>());
}

AddedToken parse_added_token(const json& entry, const std::string& where) {
  if (entry.is_object()) {
    fields(entry, where)
        .allow_only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
  }
  return {.id = parse_id(fields(entry, where).value("id"), where),
          .content = fields(entry, where).text("content"),
          .single_word = fields(entry, where).boolean("single_word"),
          .lstrip = fields(entry, where).boolean("lstrip"),
          .rstrip = fields(entry, where).boolean("rstrip"),
          .normalized = fields(entry, where).boolean("normalized"),
          .special = fields(entry, where).boolean("special")};
}

// The ids of one entry of a TemplateProcessing's "single"; empty for the place of the text itself.
std::vector<TokenId> template_ids(const json& item, const json& tokens,
                                  const Vocabulary& vocabulary, const std::string& where) {
  if (item.is_object() && item.contains("Sequence")) return {};
  const json& special = fields(item, where).value("SpecialToken");
  const std::string name = fields(special, where).text("id");
  const std::string place = where + ".special_tokens";
  const json& known = fields(tokens, place).value(name);
  std::vector<TokenId> ids;
  for (const json& id : fields(known, place).list("ids")) {
    ids.push_back(parse_id(id, where));
    if (static_cast<std::size_t>(ids.back()) >= vocabulary.size()) {
      throw DataError("{}: '{}' stands for the id {}, but there are only {} tokens", where, name,
                      ids.back(), vocabulary.size());
    }
  }
  return ids;
}

SequenceFrame parse_template(const json& component, const Vocabulary& vocabulary,
                             const std::string& where) {
  fields(component, where).allow_only({"type", "single", "pair", "special_tokens"});
  SequenceFrame frame;
  const json no_tokens = json::object();
  const json& tokens =
      component.contains("special_tokens") ? component["special_tokens"] : no_tokens;
  int texts = 0;
  for (const json& item : fields(component, where).list("single")) {
    const std::vector<TokenId> ids = template_ids(item, tokens, vocabulary, where);
    if (item.contains("Sequence")) ++texts;
    auto& side = texts == 0 ? frame.prefix : frame.suffix;
    side.insert(side.end(), ids.begin(), ids.end());
  }
  if (texts != 1)
    throw DataError("{}: 'single' places the text {} times, expected once", where, texts);
  return frame;
}

}  // namespace

std::vector<AddedToken> parse_added_tokens(const json& component, Vocabulary& vocabulary,
                                           const std::string& where) {
  std::vector<AddedToken> tokens;
  Vocabulary seen;
  if (component.is_null()) return tokens;
  if (!component.is_array()) {
    throw DataError("{}: found {}, expected a list", where, component.type_name());
  }
  for (std::size_t index = 0; index < component.size(); ++index) {
    const std::string place = fmt::format("{}[{}]", where, index);
    AddedToken token = parse_added_token(component[index], place);
    if (token.content.empty()) throw DataError("{}: the content is empty", place);
    if (!seen.add(token.content, token.id)) {
      throw DataError("{}: '{}' is given twice", place, token.content);
    }
    if (const auto id = vocabulary.find(token.content); id && *id != token.id) {
      throw DataError("{}: '{}' has the id {} here and {} in the vocabulary", place, token.content,
                      token.id, *id);
    }
    vocabulary.add(token.content, token.id);
    tokens.push_back(std::move(token));
  }
  return tokens;
}

bool parse_normalizer(const json& component, const std::string& where) {
  if (component.is_null()) return false;
  const std::string type = fields(component, where).text("type");
  if (type != "NFC" && type != "Sequence") {
    throw DataError("{}: unknown normalizer '{}'; known are NFC and Sequence", where, type);
  }
  fields(component, where).allow_only({"type", type == "NFC" ? "type" : "normalizers"});
  if (type == "NFC") return true;
  bool nfc = false;
  std::size_t index = 0;
  for (const json& step : fields(component, where).list("normalizers")) {
    nfc = parse_normalizer(step, fmt::format("{}.normalizers[{}]", where, index++)) || nfc;
  }
  return nfc;
}

SequenceFrame parse_post_processor(const json& component, const Vocabulary& vocabulary,
                                   const std::string& where) {
  if (component.is_null()) return {};
  const std::string type = fields(component, where).text("type");
  if (type == "ByteLevel") {
    check_byte_level_keys(component, where);
    return {};
  }
  if (type == "TemplateProcessing") return parse_template(component, vocabulary, where);
  if (type != "Sequence") {
    throw DataError(
        "{}: unknown post-processor '{}'; known are ByteLevel, TemplateProcessing and Sequence",
        where, type);
  }
  fields(component, where).allow_only({"type", "processors"});
  SequenceFrame frame;
  std::size_t index = 0;
  int templates = 0;
  for (const json& step : fields(component, where).list("processors")) {
    const std::string place = fmt::format("{}.processors[{}]", where, index++);
    if (fields(step, place).text("type") == "TemplateProcessing" && ++templates > 1) {
      throw DataError("{}: a second TemplateProcessing", place);
    }
    SequenceFrame inner = parse_post_processor(step, vocabulary, place);
    if (!inner.prefix.empty() || !inner.suffix.empty()) frame = std::move(inner);
  }
  return frame;
}

void check_decoder(const json& component, const std::string& where) {
  const std::string type = component.is_null() ? "null" : fields(component, where).text("type");
  if (type != "ByteLevel") {
    throw DataError("{}: unknown decoder '{}'; expected ByteLevel", where, type);
  }
  check_byte_level_keys(component, where);
}

}  // namespace odb
