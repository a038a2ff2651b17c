#include "data/conversation/record_parser.h"

#include <limits>

#include "base/error.h"
#include "data/conversation/token_record.h"

namespace odb {
namespace {

std::string key_list(const simdjson::dom::object& object) {
  std::string keys;
  for (const auto field : object) {
    keys += fmt::format("{}'{}'", keys.empty() ? "" : ", ", field.key);
    if (keys.size() > 200) return keys + ", ...";
  }
  return keys.empty() ? "none" : keys;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

// The ids must be one sample, and its labels all that says what is trained.
void check_token_keys(const simdjson::dom::object& object, const ColumnNames& names,
                      const Fields& fields) {
  for (const auto field : object) {
    if (field.value.is_null() || field.key == names[Column::input_ids] ||
        field.key == names[Column::labels])
      continue;
    switch (token_key(field.key)) {
      case TokenKey::packing:
        throw DataError(
            "found the key '{}' beside '{}': the row was packed beforehand; expected one sample in "
            "each row, which batching joins",
            field.key, names[Column::input_ids]);
      case TokenKey::label_mask:
        if (fields.has(Column::labels)) break;
        throw DataError(
            "found the key '{}' and no '{}'; expected labels, -100 where a token is not trained",
            field.key, names[Column::labels]);
      case TokenKey::attention_mask:
        if (is_all_ones(field.value)) break;
        throw DataError(
            "{}: found something else than a list of ones: the row was padded or packed "
            "beforehand; expected one sample without padding in each row",
            field.key);
      case TokenKey::other:
        break;
    }
  }
}

}  // namespace

RecordParser::RecordParser(RecordParserOptions options)
    : options_(std::move(options)), messages_(options_.columns) {}

const ParsedRecord& RecordParser::parse(RecordBuffer& record) {
  if (read_plain_tokens(record)) return record_;
  const JsonValue json = json_.parse(record.bytes());
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS)
    throw DataError("found {}; expected an object", kind_of(json));
  const Fields fields(object, options_.columns, Column::messages, Column::labels);
  const auto format = options_.format ? options_.format : detect_format(fields);
  if (!format)
    throw DataError(
        "found the keys {}; expected messages, conversations, instruction, prompt and "
        "completion, text or input_ids (map others with --column)",
        key_list(object));
  if (format == RecordFormat::tokens) check_token_keys(object, options_.columns, fields);
  record_.format = *format;
  record_.conversation.clear();
  record_.kind = RecordKind::conversation;
  messages_.start_record();
  read_format(fields);
  if (messages_.read_zero_fraction() && has_underflow(record.text()))
    throw DataError(
        "found a number that is too small for 64 bits; a weight is 0 or 1 and nothing else");
  record_.notes = messages_.notes();
  note_empty_answers();
  return record_;
}

void RecordParser::read_format(const Fields& fields) {
  switch (record_.format) {
    case RecordFormat::messages:
      read_messages(fields, Column::messages);
      break;
    case RecordFormat::sharegpt:
      read_messages(fields, Column::conversations);
      break;
    case RecordFormat::alpaca:
      read_alpaca(fields);
      break;
    case RecordFormat::prompt_completion:
      read_prompt_completion(fields);
      break;
    case RecordFormat::text:
      record_.kind = RecordKind::text;
      record_.prompt = {};
      record_.completion = want_text(fields, Column::text);
      break;
    case RecordFormat::tokens:
      record_.kind = RecordKind::tokens;
      read_tokens(fields);
      break;
  }
}

// An answer is not empty if a call or its reasoning is all that it has.
void RecordParser::note_empty_answers() {
  if (record_.kind == RecordKind::tokens) return;
  if (record_.kind == RecordKind::text) {
    record_.notes.empty_answers = is_blank(record_.completion) ? 1 : 0;
    return;
  }
  for (const Message& message : record_.conversation.messages)
    if (message.role == Role::assistant && message.supervised && message.calls == 0 &&
        is_blank(message.content) && is_blank(message.reasoning.value_or("")))
      ++record_.notes.empty_answers;
}

void RecordParser::add_turn(Role role, std::string_view content) {
  record_.conversation.messages.push_back({.role = role, .content = content});
}

void RecordParser::read_messages(const Fields& fields, Column list) {
  read_with_system(fields, list);
  read_tools(fields);
}

// A list of messages, after the text of the system column.
void RecordParser::read_with_system(const Fields& fields, Column list) {
  Conversation& conversation = record_.conversation;
  const std::string_view system = optional_text(fields, Column::system);
  if (!system.empty()) add_turn(Role::system, system);
  if (!fields.has(list)) throw DataError("the key '{}' is missing", options_.columns[list]);
  messages_.read_list(*fields[list], options_.columns[list], conversation);
  if (!system.empty() && conversation.messages.size() > 1 &&
      conversation.messages[1].role == Role::system) {
    if (conversation.messages[1].content != system)
      throw DataError("found two system texts that differ: the key '{}' and the first message",
                      options_.columns[Column::system]);
    conversation.messages.erase(conversation.messages.begin());
  }
}

void RecordParser::read_alpaca(const Fields& fields) {
  Conversation& conversation = record_.conversation;
  const std::string_view system = optional_text(fields, Column::system);
  if (!system.empty()) add_turn(Role::system, system);
  if (fields.has(Column::history)) {
    simdjson::dom::array pairs;
    if (fields[Column::history]->get(pairs) != simdjson::SUCCESS)
      throw DataError("history: found {}; expected a list of [question, answer]",
                      kind_of(*fields[Column::history]));
    for (const JsonValue pair : pairs) {
      std::string_view question;
      std::string_view answer;
      if (pair.at(0).get(question) != simdjson::SUCCESS ||
          pair.at(1).get(answer) != simdjson::SUCCESS || pair.at(2).error() == simdjson::SUCCESS)
        throw DataError("history: found a turn that is not [question, answer] of two texts");
      add_turn(Role::user, question);
      add_turn(Role::assistant, answer);
    }
  }
  const std::string_view instruction = want_text(fields, Column::instruction);
  const std::string_view input = optional_text(fields, Column::input);
  if (instruction.empty() || input.empty())
    add_turn(Role::user, instruction.empty() ? input : instruction);
  else
    add_turn(Role::user, conversation.keep(fmt::format("{}\n{}", instruction, input)));
  if (fields.has(Column::output)) add_turn(Role::assistant, want_text(fields, Column::output));
  read_tools(fields);
}

void RecordParser::read_tools(const Fields& fields) {
  if (fields.has(Column::tools))
    messages_.tools().read_tools(*fields[Column::tools], record_.conversation);
}

void RecordParser::read_prompt_completion(const Fields& fields) {
  for (const Column column : {Column::prompt, Column::completion})
    if (!fields.has(column)) throw DataError("the key '{}' is missing", options_.columns[column]);
  const bool lists = fields[Column::prompt]->is_array();
  if (lists != fields[Column::completion]->is_array())
    throw DataError("found {} as prompt and {} as completion; expected two texts or two lists",
                    kind_of(*fields[Column::prompt]), kind_of(*fields[Column::completion]));
  const std::string_view system = optional_text(fields, Column::system);
  read_tools(fields);
  if (!lists) {
    for (const auto& [column, is_there] :
         {std::pair(Column::system, !system.empty()),
          std::pair(Column::tools, !record_.conversation.tools.empty())})
      if (is_there)
        throw DataError(
            "found the key '{}' with a text prompt, which cannot use it; expected lists of "
            "messages",
            options_.columns[column]);
    record_.kind = RecordKind::text;
    record_.prompt = want_text(fields, Column::prompt);
    record_.completion = want_text(fields, Column::completion);
    return;
  }
  Conversation& conversation = record_.conversation;
  read_with_system(fields, Column::prompt);
  for (Message& message : conversation.messages)
    message.supervised = false;
  messages_.read_list(*fields[Column::completion], options_.columns[Column::completion],
                      conversation);
}

// If a record has ids, they take precedence (detect_format).
bool RecordParser::read_plain_tokens(const RecordBuffer& record) {
  if (options_.format.value_or(RecordFormat::tokens) != RecordFormat::tokens) return false;
  const TokenRecord form = read_token_record(
      record.text(),
      {.ids = options_.columns[Column::input_ids], .labels = options_.columns[Column::labels]},
      record_.tokens, record_.labels);
  if (form == TokenRecord::none) return false;
  if (form == TokenRecord::ids) record_.labels = record_.tokens;
  record_.format = RecordFormat::tokens;
  record_.kind = RecordKind::tokens;
  record_.conversation.clear();
  record_.notes.clear();
  check_label_count();
  return true;
}

void RecordParser::read_tokens(const Fields& fields) {
  record_.tokens = want_ids(fields, Column::input_ids);
  record_.labels = fields.has(Column::labels) ? want_ids(fields, Column::labels) : record_.tokens;
  check_label_count();
}

void RecordParser::check_label_count() const {
  if (record_.labels.size() != record_.tokens.size())
    throw DataError("found {} labels for {} tokens; expected one per token", record_.labels.size(),
                    record_.tokens.size());
}

std::string_view RecordParser::want_text(const Fields& fields, Column column) const {
  const std::string& name = options_.columns[column];
  if (!fields.has(column)) throw DataError("the key '{}' is missing", name);
  const auto text = as_string(*fields[column]);
  if (!text) throw DataError("{}: found {}; expected a text", name, kind_of(*fields[column]));
  return *text;
}

std::string_view RecordParser::optional_text(const Fields& fields, Column column) const {
  return fields.has(column) ? want_text(fields, column) : std::string_view();
}

std::vector<std::int32_t> RecordParser::want_ids(const Fields& fields, Column column) const {
  const std::string& name = options_.columns[column];
  if (!fields.has(column)) throw DataError("the key '{}' is missing", name);
  simdjson::dom::array array;
  if (fields[column]->get(array) != simdjson::SUCCESS)
    throw DataError("{}: found {}; expected a list of token ids", name, kind_of(*fields[column]));
  std::vector<std::int32_t> ids;
  for (const JsonValue item : array) {
    std::int64_t id = 0;
    if (item.get(id) != simdjson::SUCCESS || id > std::numeric_limits<std::int32_t>::max() ||
        id < std::numeric_limits<std::int32_t>::min())
      throw DataError("{}[{}]: expected a token id", name, ids.size());
    ids.push_back(static_cast<std::int32_t>(id));
  }
  return ids;
}

}  // namespace odb
