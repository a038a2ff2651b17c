// Reads a message of a conversation with OpenAI's keys (role, content), ShareGPT's (from, value) or
// both.
//
// Roles: system, developer; user, human; assistant, gpt, chatgpt, model, bot; tool, function,
// observation, function_response, ipython; function_call (an assistant's call as JSON text). Any
// other is refused: a guessed role would shift the labels.
//
// Whether an answer is trained may be said by weight, train, training, trainable, loss or
// loss_mask: true or 1, false or 0. Two of them that differ are refused.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/conversation/conversation.h"
#include "data/conversation/record_format.h"
#include "data/conversation/tool_calls.h"

namespace odb {

class MessageReader {
 public:
  explicit MessageReader(ColumnNames names) : names_(std::move(names)) {}

  // Appends the messages of a list. `context` is the list's name in messages about errors. Throws
  // DataError naming the message, what was found and what was expected.
  void read_list(const JsonValue& list, std::string_view context, Conversation& into);

  ToolReader& tools() { return tools_; }

  // What was found in messages since the last call of start_record, and is not used.
  const RecordNotes& notes() const { return notes_; }
  // Whether a flag was zero and written as a fraction. It may then be a number that is too small
  // for 64 bits; only the text of the record shows that.
  bool read_zero_fraction() const { return read_zero_fraction_; }
  // Before the messages of a record.
  void start_record();

 private:
  // The message that is being read. Its name is formatted only for an error.
  struct ErrorContext {
    std::string_view list;
    std::size_t number = 0;
    std::string text() const;                         // "messages[2]"
    std::string text(std::string_view column) const;  // "messages[2].content"
  };

  void read_message(const JsonValue& json, const ErrorContext& context, Conversation& into);
  void read_other_keys(const simdjson::dom::object& object, const ErrorContext& context,
                       Message& message);
  void read_reasoning(const JsonValue& json, const ErrorContext& context, std::string_view key,
                      Message& message) const;
  bool parse_flag(const JsonValue& json, const std::string& context);
  void note_flag(bool trained, const ErrorContext& context, std::string_view key,
                 std::optional<bool>& flag) const;
  Column content_column(const Fields& fields) const;
  void read_calls(const Fields& fields, const ErrorContext& context, Message& message,
                  Conversation& into);
  void read_content(const Fields& fields, const ErrorContext& context, bool is_call,
                    Message& message, Conversation& into);
  static Role parse_role(const JsonValue& json, const ErrorContext& context, std::string_view key,
                         bool& is_call);

  ColumnNames names_;
  ToolReader tools_;
  RecordNotes notes_;
  bool read_zero_fraction_ = false;
};

}  // namespace odb
