#include "commands.h"
#include "version.h"
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/options/command_line.h"

namespace odb {

int version_command(const Arguments& arguments) {
  bool as_json = false;
  OptionTable table;
  table.group("version");
  table.add_switch("json", as_json).help("print one JSON object");
  const CommandUsage usage{.name = "version",
                           .summary = "Tells the version and the git commit of this binary.",
                           .takes_config = false};
  if (!parse_command_line(table, usage, arguments)) return 0;

  if (as_json)
    fmt::print("{}\n",
               nlohmann::ordered_json{{"version", kVersion}, {"git_commit", kGitCommit}}.dump());
  else
    fmt::print("odb-trainer {} ({})\n", kVersion, kGitCommit);
  return 0;
}

}  // namespace odb
