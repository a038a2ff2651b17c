#include "train/run_options.h"

#include "batching/option_table.h"

namespace odb {

void describe(OptionTable& table, RunOptions& options) {
  describe(table, options.data);
  describe(table, options.loader);
  describe(table, options.batching);
  describe(table, options.model);
  describe(table, options.optimizer);
  describe(table, options.length);
  describe(table, options.evaluation);
  describe(table, options.ranks);
  describe(table, options.files);
  describe(table, options.look);
  table.validate([&options] {
    if (options.data.data.empty()) throw UsageError("--data is missing; wanted at least one file");
    if (options.model.model.empty())
      throw UsageError("--model is missing; wanted a folder with config.json");
    if (options.files.output.empty())
      throw UsageError("--output is missing; wanted a folder for the files of the run");
  });
}

}  // namespace odb
