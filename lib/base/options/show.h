// What a table can print: help text, config file, JSON Schema.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/options/table.h"

namespace odb {

// Every option under its group's heading: flag, meaning, unit, range or choices, default; no line
// longer than `width` columns, except single longer words.
std::string help_text(const std::vector<const Option*>& options, size_t width);

// The current values as a JSON object that read_config_file reads back into the same values;
// options that are not given are null. Ends with a line feed.
std::string config_json(const OptionTable& table);

// JSON Schema (2020-12) of the config file: types, ranges, choices, defaults, meanings, exclusive
// sets; unknown keys are not allowed. No key is required, because a flag may give a required
// option. Ends with a line feed.
std::string schema_json(const OptionTable& table, const std::string& title);

// `text` broken at spaces into lines of at most `width` columns, each after `indent` spaces; no
// line feed at the end.
std::string wrap(std::string_view text, size_t indent, size_t width);

// The width of the terminal at standard output, at least 40; 80 when it is not a terminal.
size_t terminal_width();

}  // namespace odb
