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
  describe(table, options.logging);
  table.require({"data", "model", "output"});
}

}  // namespace odb
