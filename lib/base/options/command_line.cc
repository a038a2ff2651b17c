#include "base/options/command_line.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/options/show.h"
#include "base/options/sources.h"

namespace odb {
namespace {

using Arguments = std::vector<std::string>;

// The options that every command has; they are not part of its config.
struct GeneralOptions {
  std::optional<std::filesystem::path> config;
  bool help = false;
  bool print_config = false;
  bool print_schema = false;
};

void describe(OptionTable& table, GeneralOptions& options, bool takes_config) {
  table.group("general");
  if (takes_config) {
    table.add("config", options.config)
        .help("JSON file with options (names with _ for -, comments allowed); flags override it");
    table.add_switch("print-config", options.print_config)
        .help("print all options with their values as such a file, and exit");
    table.add_switch("print-schema", options.print_schema)
        .help("print the JSON Schema of such a file, and exit");
  }
  table.add_switch("help", options.help).help("print this help, and exit");
}

bool asks_for_help(const Arguments& arguments) {
  const auto end = std::ranges::find(arguments, "--");
  return std::any_of(arguments.begin(), end, [](const std::string& argument) {
    return argument == "--help" || argument == "-h";
  });
}

std::string usage_text(const CommandUsage& usage, const std::vector<const Option*>& options,
                       size_t width) {
  const std::string positional = usage.positional.empty() ? "" : " " + usage.positional;
  return fmt::format("odb-trainer {} [options]{}\n\n{}\n\n{}", usage.name, positional,
                     wrap(usage.summary, 0, width), help_text(options, width));
}

}  // namespace

CommandLine read_command_line(OptionTable& table, const CommandUsage& usage,
                              const Arguments& arguments, size_t width) {
  GeneralOptions general;
  OptionTable general_table;
  describe(general_table, general, usage.takes_config);
  std::vector<const Option*> all = general_table.options();
  for (const Option* option : table.options()) {
    ODB_CHECK(!general_table.find(option->name), "every command has the option {}", option->name);
    all.push_back(option);
  }
  if (asks_for_help(arguments)) return {.answer = usage_text(usage, all, width), .positional = {}};

  Flags flags = parse_flags(all, arguments);
  std::vector<GivenValue> general_values;
  std::vector<GivenValue> own_values;
  for (GivenValue& value : flags.values)
    (table.find(value.option->name) ? own_values : general_values).push_back(std::move(value));
  merge_values(general_table, {}, general_values);
  if (usage.positional.empty() && !flags.positional.empty())
    throw UsageError("'{}': odb-trainer {} takes options only (--name value); see --help",
                     flags.positional.front(), usage.name);

  if (general.print_schema)
    return {.answer = schema_json(table, "odb-trainer " + usage.name), .positional = {}};
  std::vector<GivenValue> file_values;
  if (general.config) file_values = read_config_file(table, *general.config);
  merge_values(table, file_values, own_values);
  if (general.print_config) return {.answer = config_json(table), .positional = {}};
  check_merged(table, file_values);
  return {.answer = "", .positional = std::move(flags.positional)};
}

std::optional<Arguments> parse_command_line(OptionTable& table, const CommandUsage& usage,
                                            const Arguments& arguments) {
  CommandLine line = read_command_line(table, usage, arguments, terminal_width());
  if (line.answer.empty()) return std::move(line.positional);
  fmt::print("{}", line.answer);
  return std::nullopt;
}

}  // namespace odb
