// launch: starts several ranks of a run on this machine, and ends with them.
#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "base/options/command_line.h"
#include "commands.h"
#include "rank_processes.h"

namespace odb {
namespace {

struct LaunchOptions {
  std::int64_t nproc = 1;
  std::string log_dir;
  std::chrono::milliseconds patience{30000};
};

void describe(OptionTable& table, LaunchOptions& options) {
  constexpr std::int64_t kMostRanks = 256;
  table.group("launch");
  table.add("nproc", options.nproc)
      .at_least(1)
      .at_most(kMostRanks)
      .help("ranks to start on this machine: one for each GPU, as a rule");
  table.add("log-dir", options.log_dir)
      .help("folder for a file of each rank's lines; empty: all come to standard error");
  table.add("patience", options.patience)
      .help("once a rank has failed, the time that the others have to end by themselves");
}

}  // namespace

int launch_command(const Arguments& arguments) {
  LaunchOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "launch",
      .summary =
          "Starts --nproc ranks of odb-trainer on this machine, each with the words behind "
          "--, and ends when all have ended: with 0 or 75 if all did, else with the code of "
          "the first that failed. Signals are passed on.",
      .words = "-- train ...",
      .takes_config = false};
  const auto words = parse_command_line(table, usage, arguments);
  if (!words) return 0;
  if (words->empty())
    throw UsageError(
        "launch: what shall the ranks do? Wanted odb-trainer launch --nproc N -- "
        "train ...");
  start_log({.role = "launch"});
  return launch_code(run_rank_processes({.ranks = static_cast<int>(options.nproc),
                                         .words = *words,
                                         .log_folder = options.log_dir,
                                         .patience = options.patience}));
}

}  // namespace odb
