// The bytes of one record -> what it holds: a conversation, two texts, or token ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "data/conversation/conversation.h"
#include "data/conversation/message_reader.h"
#include "data/conversation/record_format.h"
#include "data/json/json_record.h"
#include "data/records/record_file.h"

namespace odb {

enum class RecordKind : std::uint8_t { conversation, text, tokens };

struct ParsedRecord {
  RecordFormat format = RecordFormat::messages;
  RecordKind kind = RecordKind::conversation;
  Conversation conversation;
  // kind text: `prompt` is context, `completion` is trained (format text: all of it).
  std::string_view prompt;
  std::string_view completion;
  // kind tokens: of equal length; labels are token ids or kIgnoreIndex. Without labels in the
  // record every token is its own label.
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> labels;
  RecordNotes notes;
};

struct RecordParserOptions {
  std::optional<RecordFormat> format;  // nullopt: detected by the columns of each record
  ColumnNames columns;
};

// Parses one record after another; one thread. Reuses its memory.
class RecordParser {
 public:
  explicit RecordParser(RecordParserOptions options);

  // The result, and all views in it, are valid until the next call. Throws DataError with the
  // reason, without a place: what was found in the record and what was expected.
  const ParsedRecord& parse(RecordBuffer& record);
  // The last result; incomplete if the record was refused.
  const ParsedRecord& last() const { return record_; }

 private:
  void read_messages(const Fields& fields, Column list);
  void read_with_system(const Fields& fields, Column list);
  void read_tools(const Fields& fields);
  void read_alpaca(const Fields& fields);
  void read_prompt_completion(const Fields& fields);
  bool read_plain_tokens(const RecordBuffer& record);
  void read_tokens(const Fields& fields);
  void check_label_count() const;
  void read_format(const Fields& fields);
  void note_empty_answers();
  std::string_view want_text(const Fields& fields, Column column) const;
  std::string_view optional_text(const Fields& fields, Column column) const;
  std::vector<std::int32_t> want_ids(const Fields& fields, Column column) const;
  void add_turn(Role role, std::string_view content);

  RecordParserOptions options_;
  JsonParser json_;
  MessageReader messages_;
  ParsedRecord record_;
};

}  // namespace odb
