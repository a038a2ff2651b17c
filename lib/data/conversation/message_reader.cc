#include "data/conversation/message_reader.h"

#include <algorithm>

#include "base/error.h"

namespace odb {
namespace {

struct RoleWord {
  std::string_view word;
  Role role;
  bool is_call = false;  // the content is a call as JSON text
};

constexpr RoleWord kRoleWords[] = {{"user", Role::user},
                                   {"assistant", Role::assistant},
                                   {"human", Role::user},
                                   {"gpt", Role::assistant},
                                   {"system", Role::system},
                                   {"tool", Role::tool},
                                   {"developer", Role::system},
                                   {"chatgpt", Role::assistant},
                                   {"model", Role::assistant},
                                   {"bot", Role::assistant},
                                   {"function", Role::tool},
                                   {"observation", Role::tool},
                                   {"function_response", Role::tool},
                                   {"ipython", Role::tool},
                                   {"function_call", Role::assistant, true}};

// The text of a part: a string, or an object of type text. Nullopt for others; `type` is then the
// type that was found.
std::optional<std::string_view> part_text(const JsonValue& part, std::string_view& type) {
  type = kind_of(part);
  simdjson::dom::object object;
  if (part.get(object) != simdjson::SUCCESS) return as_string(part);
  const auto named = value_of(object, "type");
  const auto text = value_of(object, "text");
  if (!named || !as_string(*named)) return std::nullopt;
  type = *as_string(*named);
  return type == "text" && text ? as_string(*text) : std::nullopt;
}

// Parts of a content list, joined without anything between them.
std::string join_parts(const simdjson::dom::array& parts, const std::string& context) {
  std::string joined;
  std::size_t number = 0;
  for (const JsonValue part : parts) {
    std::string_view type;
    const auto text = part_text(part, type);
    if (!text)
      throw DataError(
          "{}[{}]: found a part of type '{}'; expected {{\"type\": \"text\", \"text\": ...}}",
          context, number, type);
    joined += *text;
    ++number;
  }
  return joined;
}

// Keys of OpenAI's messages that no template here writes.
bool is_ignored_key(std::string_view key) {
  return key == "name" || key == "tool_call_id";
}

}  // namespace

std::string MessageReader::ErrorContext::text() const {
  return fmt::format("{}[{}]", list, number);
}

std::string MessageReader::ErrorContext::text(std::string_view column) const {
  return fmt::format("{}[{}].{}", list, number, column);
}

Role MessageReader::parse_role(const JsonValue& json, const ErrorContext& context,
                               std::string_view key, bool& is_call) {
  const auto word = as_string(json);
  if (!word) throw DataError("{}: found {}; expected a text", context.text(key), kind_of(json));
  const auto* const found =
      std::find_if(std::begin(kRoleWords), std::end(kRoleWords),
                   [&](const RoleWord& known) { return known.word == *word; });
  if (found != std::end(kRoleWords)) {
    is_call = found->is_call;
    return found->role;
  }
  std::string known;
  for (const RoleWord& role : kRoleWords)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", role.word);
  throw DataError("{}: found the role '{}'; known: {}", context.text(key), *word, known);
}

void MessageReader::read_list(const JsonValue& list, std::string_view context, Conversation& into) {
  simdjson::dom::array array;
  if (list.get(array) != simdjson::SUCCESS)
    throw DataError("{}: found {}; expected a list of messages", context, kind_of(list));
  std::size_t number = 0;
  for (const JsonValue message : array)
    read_message(message, {.list = context, .number = number++}, into);
}

void MessageReader::read_message(const JsonValue& json, const ErrorContext& context,
                                 Conversation& into) {
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS)
    throw DataError("{}: found {}; expected an object", context.text(), kind_of(json));
  const Fields fields(object, names_, Column::role, Column::weight);
  const Column role = fields.has(Column::role) ? Column::role : Column::from;
  if (!fields.has(role))
    throw DataError("{}: the key '{}' (or '{}') is missing", context.text(), names_[Column::role],
                    names_[Column::from]);
  bool is_call = false;
  Message message{.role = parse_role(*fields[role], context, names_[role], is_call),
                  .first_call = static_cast<std::uint32_t>(into.tool_calls.size())};
  read_calls(fields, context, message, into);
  read_content(fields, context, is_call, message, into);
  if (message.calls > 0 && message.role != Role::assistant)
    throw DataError(
        "{}: found tool calls in a turn of the role '{}'; expected the role 'assistant'",
        context.text(), name(message.role));
  read_other_keys(object, context, message);
  into.messages.push_back(message);
}

void MessageReader::start_record() {
  notes_.clear();
  read_zero_fraction_ = false;
}

// The reasoning, the flag and all keys that are not columns, under any of their names.
void MessageReader::read_other_keys(const simdjson::dom::object& object,
                                    const ErrorContext& context, Message& message) {
  std::optional<bool> flag;
  for (const auto field : object) {
    if (field.value.is_null()) continue;
    std::optional<Column> column = names_.message_column(field.key);
    if (!column) column = names_.alias(field.key);
    if (column == Column::reasoning_content)
      read_reasoning(field.value, context, field.key, message);
    else if (column == Column::weight)
      note_flag(parse_flag(field.value, context.text(field.key)), context, field.key, flag);
    else if (!column && !is_ignored_key(field.key))
      notes_.unknown_keys.push_back(field.key);
  }
  message.supervised = flag.value_or(true);
  if (flag == true && message.role != Role::assistant) ++notes_.flagged_prompts;
}

void MessageReader::read_reasoning(const JsonValue& json, const ErrorContext& context,
                                   std::string_view key, Message& message) const {
  const auto text = as_string(json);
  if (!text) throw DataError("{}: found {}; expected a text", context.text(key), kind_of(json));
  if (message.reasoning && !message.reasoning->empty() && !text->empty() &&
      *message.reasoning != *text)
    throw DataError(
        "{}: found two texts of reasoning that differ; expected one of the keys '{}', "
        "reasoning and thinking",
        context.text(key), names_[Column::reasoning_content]);
  if (!message.reasoning || !text->empty()) message.reasoning = text;
}

bool MessageReader::parse_flag(const JsonValue& json, const std::string& context) {
  bool flag = false;
  if (json.get(flag) == simdjson::SUCCESS) return flag;
  double weight = 0;
  if (json.get(weight) != simdjson::SUCCESS)
    throw DataError("{}: found {}; expected true or 1 (trained), or false or 0 (context only)",
                    context, kind_of(json));
  if (weight != 0 && weight != 1)
    throw DataError("{}: found the number {}; expected 1 (trained) or 0 (context only)", context,
                    weight);
  read_zero_fraction_ = read_zero_fraction_ || (weight == 0 && json.is_double());
  return weight == 1;
}

void MessageReader::note_flag(bool trained, const ErrorContext& context, std::string_view key,
                              std::optional<bool>& flag) const {
  if (flag && *flag != trained)
    throw DataError(
        "{}: found {}, and another key of the message says the opposite; expected one "
        "of them",
        context.text(key), trained ? "that the turn is trained" : "that it is not");
  flag = trained;
}

void MessageReader::read_calls(const Fields& fields, const ErrorContext& context, Message& message,
                               Conversation& into) {
  if (const auto& calls = fields[Column::tool_calls])
    message.calls = tools_.read_calls(*calls, context.text(names_[Column::tool_calls]), into);
  else if (const auto& call = fields[Column::function_call])
    message.calls = tools_.read_call(*call, context.text(names_[Column::function_call]), into);
}

// The keys content and value both work with either key of the role.
Column MessageReader::content_column(const Fields& fields) const {
  for (const Column column : {Column::content, Column::value})
    if (fields.has(column) || fields.is_null(column)) return column;
  return fields.has(Column::role) ? Column::content : Column::value;
}

void MessageReader::read_content(const Fields& fields, const ErrorContext& context, bool is_call,
                                 Message& message, Conversation& into) {
  const Column column = content_column(fields);
  const auto& content = fields[column];
  if (!content) {
    if (!fields.is_null(column) && message.calls == 0)
      throw DataError("{}: the key '{}' is missing", context.text(), names_[column]);
    if (message.role != Role::assistant)
      throw DataError("{}: found null; expected a text (only the assistant's may be null)",
                      context.text(names_[column]));
    return;
  }
  if (is_call) {
    message.calls += tools_.read_call(*content, context.text(names_[column]), into);
    return;
  }
  if (const auto text = as_string(*content)) {
    message.content = *text;
    return;
  }
  simdjson::dom::array parts;
  if (content->get(parts) != simdjson::SUCCESS)
    throw DataError("{}: found {}; expected a text or a list of parts",
                    context.text(names_[column]), kind_of(*content));
  message.content = into.keep(join_parts(parts, context.text(names_[column])));
}

}  // namespace odb
