#include "tokenizer/json_fields.h"

#include <algorithm>

#include "base/error.h"

namespace odb {

using nlohmann::json;

const json& required_field(const json& object, const char* name, const std::string& where) {
  if (!object.is_object()) {
    throw DataError("{}: found {}, expected an object", where, object.type_name());
  }
  const auto found = object.find(name);
  if (found == object.end()) throw DataError("{}: the field '{}' is missing", where, name);
  return *found;
}

void check_keys(const json& object, std::initializer_list<std::string_view> known,
                const std::string& where) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw DataError("{}: unknown key '{}'", where, key);
    }
  }
}

void check_byte_level_keys(const json& object, const std::string& where) {
  check_keys(object, {"type", "add_prefix_space", "trim_offsets", "use_regex"}, where);
}

std::string required_text(const json& object, const char* name, const std::string& where) {
  const json& field = required_field(object, name, where);
  if (!field.is_string()) {
    throw DataError("{}: '{}' is {}, expected a string", where, name, field.type_name());
  }
  return field.get<std::string>();
}

std::string component_type(const json& object, const std::string& where) {
  return required_text(object, "type", where);
}

bool required_flag(const json& object, const char* name, const std::string& where) {
  const json& field = required_field(object, name, where);
  if (!field.is_boolean()) {
    throw DataError("{}: '{}' is {}, expected true or false", where, name, field.type_name());
  }
  return field.get<bool>();
}

bool optional_flag(const json& object, const char* name, bool otherwise, const std::string& where) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return otherwise;
  return required_flag(object, name, where);
}

const json& required_list(const json& object, const char* name, const std::string& where) {
  const json& field = required_field(object, name, where);
  if (!field.is_array()) {
    throw DataError("{}: '{}' is {}, expected a list", where, name, field.type_name());
  }
  return field;
}

}  // namespace odb
