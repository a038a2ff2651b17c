// launch: starts several ranks of a run on this machine, and ends with them.
#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "base/options/command_line.h"
#include "commands.h"
#include "rank_processes.h"
#include "train_words.h"

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
      .help(
          "folder for a file of each rank's lines, behind those of earlier starts; empty: all come "
          "to standard error");
  table.add("patience", options.patience)
      .help(
          "once a rank has failed, the time that the others have to leave before they are killed");
}

constexpr const char* kWanted = "wanted odb-trainer launch --nproc N -- train ...";

// The options behind would be taken for launch's own, and refused with no word of what is missing.
void require_dashes(const Arguments& arguments) {
  if (std::ranges::find(arguments, "train") != arguments.end() &&
      std::ranges::find(arguments, "--") == arguments.end())
    throw UsageError("launch: found train without -- before it; {}", kWanted);
}

// Ranks get their numbers, and the place to meet, from their launch. (An own place to meet is
// refused without --rank already.)
void refuse_places(const RankOptions& ranks) {
  const auto refuse = [](const char* flag) {
    throw UsageError(
        "{} cannot be given to the ranks of launch, which numbers them and tells them where to "
        "meet; leave it out, or start each rank by odb-trainer train",
        flag);
  };
  if (ranks.rank) refuse("--rank");
  if (ranks.world_size) refuse("--world-size");
  if (ranks.local_rank) refuse("--local-rank");
}

}  // namespace

int launch_command(const Arguments& arguments) {
  LaunchOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{
      .name = "launch",
      .summary =
          "Starts --nproc ranks of odb-trainer train on this machine, each with the options behind "
          "-- train, and ends when all have ended: with 0 or 75 if all did, else with the code of "
          "the rank whose failure ended the run, which is told. Signals are passed on.",
      .words = "-- train ...",
      .takes_config = false};
  require_dashes(arguments);
  const auto words = parse_command_line(table, usage, arguments);
  if (!words) return 0;
  if (words->empty()) throw UsageError("launch: what shall the ranks do? {}", kWanted);
  if (words->front() != "train")
    throw UsageError("launch: found '{}' behind --; {}", words->front(), kWanted);
  // What can be answered, or refused, without any rank is so once.
  RunOptions run;
  OptionTable run_table;
  if (!read_train_words({words->begin() + 1, words->end()}, run_table, run)) return 0;
  refuse_places(run.ranks);
  start_log({.role = "launch"});
  return launch_code(run_rank_processes({.ranks = static_cast<int>(options.nproc), .words = *words},
                                        options.log_dir, options.patience));
}

}  // namespace odb
