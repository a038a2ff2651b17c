#include "train/run_options.h"

#include "base/error.h"
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
  describe(table, options.saving);
  describe(table, options.logging);
  table.validate([&options] {
    if (options.files.overwrite && options.saving.resume != "never")
      throw UsageError(
          "--overwrite on removes the run in --output, and --resume {} goes on with it; add "
          "--resume never to remove it, or leave --overwrite out to go on",
          options.saving.resume);
  });
  table.require({"data", "model", "output"});
}

}  // namespace odb
