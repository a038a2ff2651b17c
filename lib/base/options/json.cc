// A table as JSON: its values as a config file, its rules as a schema.
#include <algorithm>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/options/show.h"

namespace odb {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::string>;

// A text as flags write it, as the JSON value of its kind.
Json value_json(const Option& option, const std::string& text) {
  switch (option.kind) {
    case OptionKind::boolean:
      return text == "on";
    case OptionKind::integer:
    case OptionKind::number:
      return Json::parse(text);
    case OptionKind::text:
      return text;
  }
  throw InternalError("option {} is of no kind", option.name);
}

Json values_json(const Option& option, const Texts& texts) {
  if (!option.repeatable) return texts.empty() ? Json() : value_json(option, texts.front());
  Json list = Json::array();
  for (const std::string& text : texts)
    list.push_back(value_json(option, text));
  return list;
}

const char* type_name(OptionKind kind) {
  switch (kind) {
    case OptionKind::boolean:
      return "boolean";
    case OptionKind::integer:
      return "integer";
    case OptionKind::number:
      return "number";
    case OptionKind::text:
      return "string";
  }
  throw InternalError("an option is of no kind");
}

const char* bound_keyword(OptionBound::Side side) {
  switch (side) {
    case OptionBound::Side::at_least:
      return "minimum";
    case OptionBound::Side::above:
      return "exclusiveMinimum";
    case OptionBound::Side::at_most:
      return "maximum";
    case OptionBound::Side::below:
      return "exclusiveMaximum";
  }
  throw InternalError("a bound has no side");
}

// The schema of one value, without its description.
Json element_schema(const Option& option) {
  Json schema;
  Json types = Json::array({type_name(option.kind)});
  if (option.bare_number) types.push_back("number");
  if (option.optional && !option.required) types.push_back("null");
  schema["type"] = types.size() == 1 ? types.front() : types;
  if (!option.choices.empty()) {
    schema["enum"] = option.choices;
    if (option.optional && !option.required) schema["enum"].push_back(nullptr);
  }
  // Bounds of durations and sizes are texts: the description states them.
  if (option.kind == OptionKind::text) return schema;
  for (const auto& bounds : {option.type_bounds, option.bounds})
    for (const OptionBound& bound : bounds)
      schema[bound_keyword(bound.side)] = value_json(option, bound.value);
  return schema;
}

std::string description(const Option& option) {
  Texts facts;
  if (option.required) facts.push_back("required, here or as a flag");
  if (option.show_form) facts.push_back(option.form);
  if (!option.unit.empty()) facts.push_back("in " + option.unit);
  if (option.kind == OptionKind::text && !option.bounds.empty()) facts.push_back(option.range());
  if (!option.default_note.empty()) facts.push_back("default " + option.default_note);
  return facts.empty() ? option.help : fmt::format("{} [{}]", option.help, fmt::join(facts, "; "));
}

Json option_schema(const Option& option) {
  Json schema;
  const Json element = element_schema(option);
  if (option.repeatable) {
    Json list = {{"type", "array"}, {"items", element}};
    if (option.never_empty) list["minItems"] = 1;
    schema["anyOf"] = Json::array({list, element});
  } else {
    schema = element;
  }
  schema["description"] = description(option);
  schema["default"] = values_json(option, option.default_values);
  return schema;
}

// One rule for each pair of a set: not both with a value.
void add_exclusive_rules(Json& rules, const OptionTable& table, const Texts& set) {
  const Json given = {{"not", {{"type", "null"}}}};
  for (size_t i = 0; i < set.size(); ++i) {
    for (size_t j = i + 1; j < set.size(); ++j) {
      const std::string a = table.find(set[i])->key();
      const std::string b = table.find(set[j])->key();
      Json both;
      both["required"] = Json::array({a, b});
      both["properties"] = {{a, given}, {b, given}};
      rules.push_back({{"not", both}});
    }
  }
}

}  // namespace

std::string config_json(const OptionTable& table) {
  Json config = Json::object();
  for (const Option* option : table.options())
    config[option->key()] = values_json(*option, option->read());
  return config.dump(2) + "\n";
}

std::string schema_json(const OptionTable& table, const std::string& title) {
  Json schema;
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = title;
  schema["type"] = "object";
  Json properties = Json::object();
  for (const Option* option : table.options()) {
    properties[option->key()] = option_schema(*option);
    for (const std::string& name : option->former_names) {
      properties[key_of(name)] = option_schema(*option);
      properties[key_of(name)]["deprecated"] = true;
    }
  }
  schema["properties"] = std::move(properties);
  schema["additionalProperties"] = false;
  Json rules = Json::array();
  for (const Texts& set : table.exclusive_sets())
    add_exclusive_rules(rules, table, set);
  if (!rules.empty()) schema["allOf"] = std::move(rules);
  return schema.dump(2) + "\n";
}

}  // namespace odb
