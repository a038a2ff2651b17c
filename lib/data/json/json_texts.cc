#include "data/json/json_texts.h"

#include <algorithm>
#include <array>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "data/json/json_record.h"

namespace odb {

namespace dom = simdjson::dom;

struct JsonLineReader::Parser {
  JsonParser parser;

  JsonValue parse(std::string_view line, const std::string& where) {
    try {
      return parser.parse_copy(line);
    } catch (const DataError& error) {
      throw DataError("{}: {}", where, error.what());
    }
  }
};

namespace {

bool names_text(std::string_view key) {
  constexpr std::array<std::string_view, 8> kNames{"content",    "text",        "value", "prompt",
                                                   "completion", "instruction", "input", "output"};
  return std::find(kNames.begin(), kNames.end(), key) != kNames.end();
}

void collect_texts(const JsonValue& element, bool is_named, std::vector<std::string>& texts) {
  std::string_view text;
  dom::array array;
  dom::object object;
  if (element.get(text) == simdjson::SUCCESS) {
    if (is_named) texts.emplace_back(text);
  } else if (element.get(array) == simdjson::SUCCESS) {
    for (const dom::element item : array)
      collect_texts(item, is_named, texts);
  } else if (element.get(object) == simdjson::SUCCESS) {
    for (const auto field : object)
      collect_texts(field.value, names_text(field.key), texts);
  }
}

}  // namespace

JsonLineReader::JsonLineReader() : parser_(std::make_unique<Parser>()) {}
JsonLineReader::~JsonLineReader() = default;

std::string JsonLineReader::read_text(std::string_view line, const std::string& where) {
  std::string_view text;
  if (parser_->parse(line, where).get(text) != simdjson::SUCCESS) {
    throw DataError("{}: expected a JSON string, found {:.40}", where, line);
  }
  return std::string(text);
}

std::vector<TokenId> JsonLineReader::read_ids(std::string_view line, const std::string& where) {
  dom::array array;
  if (parser_->parse(line, where).get(array) != simdjson::SUCCESS) {
    throw DataError("{}: expected a JSON array of ids, found {:.40}", where, line);
  }
  std::vector<TokenId> ids;
  for (const dom::element item : array) {
    std::uint64_t id = 0;
    if (item.get(id) != simdjson::SUCCESS || id > std::numeric_limits<TokenId>::max()) {
      throw DataError("{}: expected an id, found {}", where, simdjson::minify(item));
    }
    ids.push_back(static_cast<TokenId>(id));
  }
  return ids;
}

std::vector<std::string> JsonLineReader::read_texts(std::string_view line,
                                                    const std::string& where) {
  std::vector<std::string> texts;
  collect_texts(parser_->parse(line, where), true, texts);
  return texts;
}

std::string json_of_text(std::string_view text) {
  return nlohmann::json(text).dump();
}

}  // namespace odb
