// Where option values come from: flags and one JSON file. Both are read into the same list of given
// values, each knowing its place, and then merged into the table. The environment is never read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/options/table.h"

namespace odb {

// An option to which one source gave a value.
struct GivenValue {
  const Option* option;
  std::string place;               // "--l-max" or "train.json:3:5: l_max", for messages
  std::vector<std::string> texts;  // empty: given as none (JSON null, the word none)
};

struct Flags {
  std::vector<GivenValue> values;       // one per option, in the order first given
  std::vector<std::string> positional;  // all other arguments, in order
};

// Splits a command line: `--name value`, `--name=value`, switches, other arguments, and `--`, after
// which all are other arguments. Throws UsageError for an unknown flag (naming the nearest), a
// missing value and a flag given twice that may not be. `-h` stands for an option named help.
Flags parse_flags(const std::vector<const Option*>& options,
                  const std::vector<std::string>& arguments);

// Reads a JSON object whose keys are option names in snake_case; comments are allowed. Throws
// UsageError with file:line:column (counted from 1, columns in characters) for malformed JSON, an
// unknown key (naming the nearest), a key given twice and a value of the wrong type.
std::vector<GivenValue> read_config_file(const OptionTable& table,
                                         const std::filesystem::path& path);

// Writes the file's values, then the flags' over them. A flag of an exclusive set also replaces
// what the file gives for the other options of that set; two of a set in one source are refused.
// Throws UsageError naming the place of a value that breaks a rule; variables may then be partly
// written.
void merge_values(OptionTable& table, const std::vector<GivenValue>& from_file,
                  const std::vector<GivenValue>& from_flags);

// Checks that required options have a value and that every rule of OptionTable::validate holds;
// else UsageError. For flags that it names, the message adds the place in the file that gave them.
void check_merged(const OptionTable& table, const std::vector<GivenValue>& from_file);

}  // namespace odb
