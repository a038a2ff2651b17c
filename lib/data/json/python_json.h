// JSON as Python's json.dumps(ensure_ascii=False) writes it. The families' chat templates put tools
// and tool calls into a prompt this way, so it must be equal byte for byte.
//
// Separators ", " and ": "; keys in order of first occurrence, with the last value of duplicates;
// floats as Python's repr (shortest digits, exponent below 1e-4 and from 1e16 on).
#pragma once

#include <string>
#include <string_view>

#include "data/json/json_record.h"

namespace odb {

void append_python_json(const JsonValue& json, std::string& out);

// The same value as json.dumps(indent=width) writes it; `json` is what append_python_json wrote.
std::string indent_python_json(std::string_view json, int width);

// Appends `text` as a JSON string with its quotes.
void append_python_json_string(std::string_view text, std::string& out);

}  // namespace odb
