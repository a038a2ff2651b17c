// The command line of one subcommand: its own options plus those that every command has (--help,
// and --config, --print-config, --print-schema where a config file makes sense).
//
//   int report_command(const Arguments& arguments) {
//     ReportOptions options;
//     OptionTable table;
//     describe(table, options);
//     const auto words = parse_command_line(table, {.name = "report", ...}, arguments);
//     if (!words) return 0;  // help, config or schema was printed
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/options/table.h"

namespace odb {

// What stands after the name of the subcommand.
using Arguments = std::vector<std::string>;

struct CommandUsage {
  std::string name;             // "train"
  std::string summary;          // what the command does: a sentence or a short paragraph
  std::string positional = "";  // its arguments without dashes, "RUN..."; empty: it takes none
  bool takes_config = true;     // whether it has --config, --print-config and --print-schema
};

struct CommandLine {
  std::string answer;  // to be printed instead of running the command; empty: run it
  std::vector<std::string> positional;  // the arguments without dashes
};

// Merges config file and flags into the table's variables and checks them. --help is answered
// before anything else is checked; --print-config shows the merged values and does not require the
// required options. Lines of the help text are at most `width` columns. Throws UsageError.
CommandLine read_command_line(OptionTable& table, const CommandUsage& usage,
                              const Arguments& arguments, size_t width);

// The same for the terminal: prints the answer to standard output and returns nothing, or returns
// the arguments without dashes.
std::optional<std::vector<std::string>> parse_command_line(OptionTable& table,
                                                           const CommandUsage& usage,
                                                           const Arguments& arguments);

}  // namespace odb
