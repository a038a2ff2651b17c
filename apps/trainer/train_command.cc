// train: fine-tunes a model, as one rank of a run.
#include <chrono>

#include <fmt/core.h>

#include "base/options/command_line.h"
#include "base/options/show.h"
#include "commands.h"
#include "train/training_run.h"

namespace odb {

int train_command(const Arguments& arguments) {
  const auto process_start = std::chrono::steady_clock::now();
  RunOptions options;
  OptionTable table;
  describe(table, options);
  const CommandUsage usage{.name = "train",
                           .summary =
                               "Fine-tunes the model of --model on --data and leaves checkpoints, "
                               "metrics and a ledger of what was trained in --output. This process "
                               "is one rank: alone, or one of --world-size that meet at "
                               "--rendezvous. odb-trainer launch starts several on one machine."};
  if (!parse_command_line(table, usage, arguments)) return 0;
  return run_training(options, config_json(table), process_start);
}

}  // namespace odb
