#include "data/conversation/tool_calls.h"

#include "base/error.h"
#include "data/json/python_json.h"

namespace odb {
namespace {

JsonValue parse_text(JsonParser& parser, std::string_view text, std::string_view place) {
  try {
    return parser.parse_copy(text);
  } catch (const DataError& error) {
    throw DataError("{}: found text that is not JSON ({})", place, error.what());
  }
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::optional<JsonValue> find(const simdjson::dom::object& object, std::string_view key) {
  const auto found = value_of(object, key);
  return found && !found->is_null() ? found : std::nullopt;
}

simdjson::dom::object want_object(const JsonValue& json, std::string_view place) {
  simdjson::dom::object object;
  if (json.get(object) != simdjson::SUCCESS)
    throw DataError("{}: found {}; expected an object", place, kind_of(json));
  return object;
}

}  // namespace

void ToolReader::read_tools(const JsonValue& tools, Conversation& into) {
  JsonValue list = tools;
  if (const auto text = as_string(tools)) {
    if (is_blank(*text)) return;
    list = parse_text(texts_, *text, "tools");
  }
  simdjson::dom::array array;
  if (list.get(array) != simdjson::SUCCESS)
    throw DataError("tools: found {}; expected a list of tools", kind_of(list));
  std::size_t number = 0;
  for (const JsonValue tool : array) {
    want_object(tool, fmt::format("tools[{}]", number++));
    std::string text;
    append_python_json(tool, text);
    into.tools.push_back(into.keep(std::move(text)));
  }
}

void ToolReader::read_one(const JsonValue& call, std::string_view place, Conversation& into) {
  simdjson::dom::object object = want_object(call, place);
  if (const auto function = find(object, "function"))
    object = want_object(*function, fmt::format("{}.function", place));
  const auto name = find(object, "name");
  if (!name) throw DataError("{}: the key 'name' is missing", place);
  const auto name_text = as_string(*name);
  if (!name_text) throw DataError("{}.name: found {}; expected a string", place, kind_of(*name));

  ToolCall& result = into.tool_calls.emplace_back();
  result.name = into.keep(std::string(*name_text));
  const auto arguments = value_of(object, "arguments");
  if (!arguments)
    throw DataError("{}: the key 'arguments' is missing; expected an object or JSON text of one",
                    place);
  const auto text =
      arguments->is_null() ? std::optional<std::string_view>("") : as_string(*arguments);
  std::string dumped = "{}";
  if (!text || !is_blank(*text)) {
    const std::string where = fmt::format("{}.arguments", place);
    const JsonValue json = text ? parse_text(arguments_, *text, where) : *arguments;
    want_object(json, where);
    dumped.clear();
    append_python_json(json, dumped);
  }
  result.arguments = into.keep(std::move(dumped));
  result.arguments_text =
      text && !is_blank(*text) ? into.keep(std::string(*text)) : result.arguments;
}

std::uint32_t ToolReader::read_calls(const JsonValue& calls, std::string_view place,
                                     Conversation& into) {
  simdjson::dom::array array;
  if (calls.get(array) != simdjson::SUCCESS)
    throw DataError("{}: found {}; expected a list of calls", place, kind_of(calls));
  std::uint32_t number = 0;
  for (const JsonValue call : array)
    read_one(call, fmt::format("{}[{}]", place, number++), into);
  return number;
}

std::uint32_t ToolReader::read_call(const JsonValue& call, std::string_view place,
                                    Conversation& into) {
  const auto text = as_string(call);
  const JsonValue parsed = text ? parse_text(texts_, *text, place) : call;
  if (parsed.is_array()) return read_calls(parsed, place, into);
  read_one(parsed, place, into);
  return 1;
}

}  // namespace odb
