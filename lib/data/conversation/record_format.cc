#include "data/conversation/record_format.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/index.h"

namespace odb {
namespace {

constexpr std::array<std::string_view, kRecordFormats> kFormatNames = {
    "messages", "sharegpt", "alpaca", "prompt-completion", "text", "tokens"};

constexpr std::array<std::string_view, kColumns> kColumnNames = {
    "messages",   "conversations", "tools",   "system",     "instruction", "input",
    "output",     "history",       "prompt",  "completion", "text",        "input_ids",
    "labels",     "role",          "content", "from",       "value",       "reasoning_content",
    "tool_calls", "function_call", "weight"};

struct Alias {
  std::string_view name;
  Column column;
};

constexpr Alias kAliases[] = {{"reasoning", Column::reasoning_content},
                              {"thinking", Column::reasoning_content},
                              {"train", Column::weight},
                              {"training", Column::weight},
                              {"trainable", Column::weight},
                              {"loss", Column::weight},
                              {"loss_mask", Column::weight}};

}  // namespace

std::string_view name(RecordFormat format) {
  return at(kFormatNames, format);
}

std::optional<RecordFormat> parse_format(std::string_view name) {
  if (name == "auto") return std::nullopt;
  const auto found = std::find(kFormatNames.begin(), kFormatNames.end(), name);
  if (found != kFormatNames.end()) return static_cast<RecordFormat>(found - kFormatNames.begin());
  throw UsageError("--data-format {}: unknown; known: auto, {}", name,
                   fmt::join(kFormatNames, ", "));
}

ColumnNames::ColumnNames() {
  std::copy(kColumnNames.begin(), kColumnNames.end(), names_.begin());
}

ColumnNames::ColumnNames(const std::vector<std::string>& words) : ColumnNames() {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string_view standard = std::string_view(word).substr(0, equals);
    const auto found = std::find(kColumnNames.begin(), kColumnNames.end(), standard);
    if (equals == std::string::npos || equals + 1 == word.size() || found == kColumnNames.end())
      throw UsageError(
          "--column {}: expected STANDARD=NAME, where NAME is the name in the data and STANDARD is "
          "one of {}",
          word, fmt::join(kColumnNames, ", "));
    at(names_, found - kColumnNames.begin()) = word.substr(equals + 1);
    at(is_mapped_, found - kColumnNames.begin()) = true;
  }
}

std::optional<Column> ColumnNames::message_column(std::string_view name) const {
  for (std::size_t column = static_cast<std::size_t>(Column::role); column < kColumns; ++column)
    if (names_[column] == name) return static_cast<Column>(column);
  return std::nullopt;
}

std::optional<Column> ColumnNames::alias(std::string_view name) const {
  for (const Alias& alias : kAliases)
    if (alias.name == name && !at(is_mapped_, alias.column)) return alias.column;
  return std::nullopt;
}

Fields::Fields(const simdjson::dom::object& object, const ColumnNames& names, Column first,
               Column last) {
  for (const auto field : object) {
    for (auto column = static_cast<std::size_t>(first); column <= static_cast<std::size_t>(last);
         ++column) {
      if (field.key != names[static_cast<Column>(column)]) continue;
      null_[column] = field.value.is_null();
      values_[column] = null_[column] ? std::nullopt : std::optional<JsonValue>(field.value);
    }
  }
}

std::optional<RecordFormat> detect_format(const Fields& fields) {
  if (fields.has(Column::input_ids)) return RecordFormat::tokens;
  if (fields.has(Column::messages)) return RecordFormat::messages;
  if (fields.has(Column::conversations)) return RecordFormat::sharegpt;
  if (fields.has(Column::prompt) && fields.has(Column::completion))
    return RecordFormat::prompt_completion;
  if (fields.has(Column::instruction)) return RecordFormat::alpaca;
  if (fields.has(Column::text)) return RecordFormat::text;
  return std::nullopt;
}

}  // namespace odb
