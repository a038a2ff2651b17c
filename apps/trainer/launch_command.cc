// launch: starts several ranks of a run on this machine, and ends with them.
#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "base/options/command_line.h"
#include "commands.h"
#include "launch/rank_processes.h"
#include "train_arguments.h"

namespace odb {
namespace {

struct LaunchOptions {
  std::int64_t nproc = 1;
  std::string log_dir;
  std::chrono::milliseconds patience{30000};
};

void describe(OptionTable& table, LaunchOptions& options) {
  constexpr std::int64_t kMaxRanks = 256;
  table.group("launch");
  table.add("nproc", options.nproc)
      .at_least(1)
      .at_most(kMaxRanks)
      .help("ranks to start on this machine, usually one per GPU");
  table.add("log-dir", options.log_dir)
      .help(
          "folder with a file of each rank's lines, appended to at each start; empty: all lines "
          "go to standard error");
  table.add("patience", options.patience)
      .help(
          "after a rank has failed, the time that the others have to leave before they are killed");
}

constexpr const char* kWanted = "expected odb-trainer launch --nproc N -- train ...";

// Without it, train's options would be taken as launch's own, and the error would not say what is
// missing.
void require_dashes(const Arguments& arguments) {
  if (std::ranges::find(arguments, "train") != arguments.end() &&
      std::ranges::find(arguments, "--") == arguments.end())
    throw UsageError("launch: found train without -- before it; {}", kWanted);
}

// launch sets the numbers of the ranks and their meeting point. (Another meeting point is already
// refused without --rank.)
void refuse_places(const RankOptions& ranks) {
  const auto refuse = [](const char* flag) {
    throw UsageError(
        "{} cannot be given with launch, which sets the rank numbers and the meeting point; leave "
        "it out, or start each rank with odb-trainer train",
        flag);
  };
  if (ranks.rank) refuse("--rank");
  if (ranks.world_size) refuse("--world-size");
  if (ranks.local_rank) refuse("--local-rank");
  if (ranks.rendezvous != "auto" && ranks.rendezvous != "env") refuse("--rendezvous");
}

}  // namespace

int launch_command(const Arguments& arguments) {
  LaunchOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "launch",
      .summary =
          "Starts --nproc ranks of odb-trainer train on this machine, each with the options after "
          "-- train, and waits for all of them. Ends with 0 or 75 if all did, otherwise with the "
          "code of the rank whose failure ended the run, and reports that failure. Signals are "
          "passed on.",
      .positional = "-- train ...",
      .takes_config = false};
  require_dashes(arguments);
  const auto positional = parse_command_line(table, usage, arguments);
  if (!positional) return 0;
  if (positional->empty())
    throw UsageError("launch: the command of the ranks is missing; {}", kWanted);
  if (positional->front() != "train")
    throw UsageError("launch: found '{}' after --; {}", positional->front(), kWanted);
  // Help and errors that need no rank are printed once, before any rank starts.
  RunOptions run;
  OptionTable run_table;
  if (!read_train_arguments({positional->begin() + 1, positional->end()}, run_table, run)) return 0;
  refuse_places(run.ranks);
  start_log({.role = "launch"});
  return launch_code(
      run_rank_processes({.ranks = static_cast<int>(options.nproc), .arguments = *positional},
                         options.log_dir, options.patience));
}

}  // namespace odb
