// The formats a record may have, and the names of their columns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/json/json_record.h"

namespace odb {

enum class RecordFormat : std::uint8_t {
  messages,           // OpenAI: {"messages": [{"role", "content", ...}], "tools"}
  sharegpt,           // {"conversations": [{"from", "value"}], "system", "tools"}
  alpaca,             // {"instruction", "input", "output", "system", "history", "tools"}
  prompt_completion,  // {"prompt", "completion"}: two texts, or two lists of messages ("system",
                      // "tools")
  text,               // {"text"}
  tokens              // {"input_ids", "labels"}
};
constexpr std::size_t kRecordFormats = 6;

// "messages", "sharegpt", "alpaca", "prompt-completion", "text", "tokens".
std::string_view format_name(RecordFormat format);

// --data-format: nullopt for "auto". Throws UsageError listing the known names.
std::optional<RecordFormat> parse_format(std::string_view name);

// What a record or a message may hold, by its standard name.
enum class Column : std::uint8_t {
  messages,
  conversations,
  tools,
  system,
  instruction,
  input,
  output,
  history,
  prompt,
  completion,
  text,
  input_ids,
  labels,
  // inside a message
  role,
  content,
  from,
  value,
  reasoning_content,
  tool_calls,
  function_call,
  weight
};
constexpr std::size_t kColumns = 21;

// The names that the columns have in the data; the standard ones unless mapped.
class ColumnNames {
 public:
  ColumnNames();
  // From --column words "standard=name in the data". Throws UsageError for an unknown standard
  // name.
  explicit ColumnNames(const std::vector<std::string>& words);

  const std::string& operator[](Column column) const {
    return names_[static_cast<std::size_t>(column)];
  }

 private:
  std::array<std::string, kColumns> names_;
};

// The columns of one JSON object; null counts as absent, the last of doubled keys counts.
class Fields {
 public:
  Fields(const simdjson::dom::object& object, const ColumnNames& names, Column first, Column last);

  // Null values are absent here; is_null tells them.
  const std::optional<JsonValue>& operator[](Column column) const {
    return values_[static_cast<std::size_t>(column)];
  }
  bool has(Column column) const { return (*this)[column].has_value(); }
  bool is_null(Column column) const { return null_[static_cast<std::size_t>(column)]; }

 private:
  std::array<std::optional<JsonValue>, kColumns> values_;
  std::array<bool, kColumns> null_{};
};

// The format whose columns are there, in the order tokens, messages, sharegpt, prompt-completion,
// alpaca, text; nullopt when there are none.
std::optional<RecordFormat> detect_format(const Fields& fields);

}  // namespace odb
