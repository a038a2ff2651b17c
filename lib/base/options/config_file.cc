// The JSON config file, read with nlohmann/json. The parser reports no positions, so it reads
// through an iterator that records its position; at a key's event that is right after the key.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "base/nearest.h"
#include "base/options/sources.h"
#include "base/read_text.h"

namespace odb {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestConfig = std::size_t{64} << 20;

class NotingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  NotingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  NotingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  NotingIterator operator++(int) {
    NotingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const NotingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const NotingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

// "train.json:3:5" for the character at `offset`.
std::string place_of(const std::string& text, size_t offset, const std::filesystem::path& path) {
  const std::string_view before(text.data(), std::min(offset, text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::string_view last = before.substr(before.rfind('\n') + 1);
  const auto is_character_start = [](char c) { return (c & 0xC0) != 0x80; };
  const auto column = 1 + std::ranges::count_if(last, is_character_start);
  return fmt::format("{}:{}:{}", path.string(), line, column);
}

// The library's message without its "[id] parse error at line 1, column 2: ".
std::string reason_of(const Json::exception& error) {
  const std::string_view whole = error.what();
  const size_t column = whole.find("column ");
  const size_t colon =
      column == std::string_view::npos ? whole.find("] ") : whole.find(": ", column);
  return std::string(colon == std::string_view::npos ? whole : whole.substr(colon + 2));
}

// `end` is right after the closing quote of a key; returns the offset of its opening quote.
size_t key_start(std::string_view text, size_t end) {
  size_t start = text.rfind('"', end - 2);
  while (start != std::string_view::npos && start > 0 && text[start - 1] == '\\')
    start = text.rfind('"', start - 1);
  return start;
}

struct Member {
  std::string key;
  size_t offset;  // of its opening quote
};

struct Document {
  Json object;
  std::vector<Member> members;
};

constexpr int kMaxNesting = 100;

Document parse_document(const std::string& text, const std::filesystem::path& path) {
  // Versions of the JSON library word this case differently.
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw UsageError("{}:1:1: the file is empty, expected a JSON object with option names as keys",
                     path.string());
  Document document;
  const char* reached = text.data();
  const auto note_keys = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMaxNesting)  // copies of it take a stack frame a level
      throw UsageError("{}: found values nested more than {} deep",
                       place_of(text, static_cast<size_t>(reached - text.data()) - 1, path),
                       kMaxNesting);
    if (event != Json::parse_event_t::key || depth != 1) return true;
    const size_t start = key_start(text, static_cast<size_t>(reached - text.data()));
    document.members.push_back({parsed.get<std::string>(), start});
    return true;
  };
  try {
    document.object =
        Json::parse(NotingIterator(text.data(), &reached),
                    NotingIterator(text.data() + text.size(), &reached), note_keys, true, true);
  } catch (const Json::exception& error) {
    const auto* parse_error = dynamic_cast<const Json::parse_error*>(&error);
    const size_t read =
        parse_error ? parse_error->byte : static_cast<size_t>(reached - text.data());
    throw UsageError("{}: malformed JSON: {}", place_of(text, std::max<size_t>(read, 1) - 1, path),
                     reason_of(error));
  }
  if (!document.object.is_object())
    throw UsageError("{}: found {}, expected an object with option names as keys",
                     place_of(text, 0, path), document.object.type_name());
  return document;
}

std::string found(const Json& value) {
  if (value.is_string()) return fmt::format("the text {}", value.dump());
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return value.dump();
}

// 1e3 -> "1000", as JSON Schema has it: a number without a fraction is an integer.
std::optional<std::string> whole_number(double value) {
  constexpr double kBeyondAnyInteger = 1e20;
  if (std::trunc(value) != value || std::abs(value) >= kBeyondAnyInteger) return std::nullopt;
  return fmt::format("{:.0f}", value + 0.0);  // adding 0 makes -0 a plain 0
}

// The value as its flag would write it; nothing when its JSON type is wrong.
std::optional<std::string> text_of(const Option& option, const Json& value) {
  switch (option.kind) {
    case OptionKind::boolean:
      if (value.is_boolean()) return value.get<bool>() ? "on" : "off";
      return std::nullopt;
    case OptionKind::integer:
      if (value.is_number_float()) return whole_number(value.get<double>());
      if (value.is_number_integer()) return value.dump();
      return std::nullopt;
    case OptionKind::number:
      if (value.is_number()) return value.dump();
      return std::nullopt;
    case OptionKind::text:
      if (value.is_string()) return value.get<std::string>();
      if (option.bare_number && value.is_number()) return value.dump();
      return std::nullopt;
  }
  return std::nullopt;
}

std::string json_expected(const Option& option) {
  std::string form = option.expected();
  if (option.kind == OptionKind::boolean) form = "true or false";
  if (option.kind == OptionKind::text)
    form = fmt::format("a text in quotes{}: {}", option.bare_number ? " or a number" : "", form);
  if (option.optional) form += ", or null";
  return option.repeatable ? "a list of values, each " + form : form;
}

GivenValue given_value(const Option& option, const std::string& key, const Json& value,
                       const std::string& place) {
  GivenValue given{.option = &option, .place = fmt::format("{}: {}", place, key), .texts = {}};
  if (option.optional && value.is_null()) return given;
  const bool is_list = option.repeatable && value.is_array();
  for (const Json& element : is_list ? value : Json::array({value})) {
    std::optional<std::string> text = text_of(option, element);
    if (!text)
      throw UsageError("{}: found {}, expected {}", given.place, found(element),
                       json_expected(option));
    given.texts.push_back(*std::move(text));
  }
  return given;
}

}  // namespace

std::vector<GivenValue> read_config_file(const OptionTable& table,
                                         const std::filesystem::path& path) {
  const std::string text = read_text("--config", path.string(), kLargestConfig);
  const Document document = parse_document(text, path);
  std::vector<std::string> keys;  // those that are suggested
  std::map<std::string, const Option*> known;
  for (const Option* option : table.options()) {
    keys.push_back(option->key());
    for (const std::string& name : option->all_names())
      known.emplace(key_of(name), option);
  }

  std::vector<GivenValue> values;
  for (const Member& member : document.members) {
    const std::string place = place_of(text, member.offset, path);
    const auto entry = known.find(member.key);
    if (entry == known.end())
      throw UsageError("{}: unknown key \"{}\"; {}", place, member.key,
                       did_you_mean(member.key, keys, "--help lists all options"));
    const Option& option = *entry->second;
    if (std::ranges::find(values, &option, &GivenValue::option) != values.end())
      throw UsageError("{}: the key {} is given twice; give it once", place, option.key());
    values.push_back(given_value(option, member.key, document.object.at(member.key), place));
  }
  return values;
}

}  // namespace odb
