// The formats of records, and the names of their columns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/index.h"
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
std::string_view name(RecordFormat format);

// --data-format: nullopt for "auto". Throws UsageError listing the known names.
std::optional<RecordFormat> parse_format(std::string_view name);

// The columns of a record or a message, by their standard names.
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

// The names of the columns in the data; the standard names unless mapped.
class ColumnNames {
 public:
  ColumnNames();
  // From --column arguments "standard=name in the data". Throws UsageError for an unknown standard
  // name.
  explicit ColumnNames(const std::vector<std::string>& words);

  const std::string& operator[](Column column) const { return at(names_, column); }

  // The column of a message (role to weight) with this name; nullopt: none.
  std::optional<Column> message_column(std::string_view name) const;
  // The column that another common name of it stands for: reasoning and thinking for
  // reasoning_content; train, training, trainable, loss and loss_mask for weight. A column that was
  // mapped has no other names.
  std::optional<Column> alias(std::string_view name) const;

 private:
  std::array<std::string, kColumns> names_;
  std::array<bool, kColumns> is_mapped_{};
};

// The columns of one JSON object. Null counts as absent; of duplicate keys the last one counts.
class Fields {
 public:
  Fields(const simdjson::dom::object& object, const ColumnNames& names, Column first, Column last);

  // Null values are absent; see is_null().
  const std::optional<JsonValue>& operator[](Column column) const { return at(values_, column); }
  bool has(Column column) const { return (*this)[column].has_value(); }
  bool is_null(Column column) const { return at(null_, column); }

 private:
  std::array<std::optional<JsonValue>, kColumns> values_;
  std::array<bool, kColumns> null_{};
};

// The format whose columns are present, tried in the order tokens, messages, sharegpt,
// prompt-completion, alpaca, text; nullopt if there is none.
std::optional<RecordFormat> detect_format(const Fields& fields);

}  // namespace odb
