// train: fine-tunes a model, as one rank of a run.
#include <chrono>

#include "base/options/command_line.h"
#include "base/options/show.h"
#include "batching/option_table.h"
#include "commands.h"
#include "train/step/schedule.h"
#include "train/training_run.h"
#include "train_arguments.h"

namespace odb {

bool read_train_arguments(const Arguments& arguments, OptionTable& table, RunOptions& options) {
  describe(table, options);
  const CommandUsage usage{.name = "train",
                           .summary =
                               "Fine-tunes the model of --model on --data and writes checkpoints, "
                               "metrics and a ledger of what was trained to --output. This "
                               "process is one rank: alone, or one of --world-size that meet at "
                               "--rendezvous. odb-trainer launch starts several on one machine."};
  if (!parse_command_line(table, usage, arguments)) return false;
  refuse_unused(options.batching, arguments);
  return true;
}

int train_command(const Arguments& arguments) {
  const auto process_start = std::chrono::steady_clock::now();
  RunOptions options;
  OptionTable table;
  if (!read_train_arguments(arguments, table, options)) return 0;
  fill_defaults(options.optimizer);  // so that config.json records them
  return run_training(options, config_json(table), process_start);
}

}  // namespace odb
