#include "train/output/saving_options.h"

namespace odb {

bool is_checkpoint_path(const std::string& resume) {
  return resume != "auto" && resume != "never" && resume != "must";
}

void describe(OptionTable& table, SavingOptions& options) {
  table.group("checkpoints");
  table.add("save-every", options.save_every)
      .default_note("only at the end of the run")
      .help("how often to save a checkpoint; a time counts on rank 0");
  table.add("keep", options.keep)
      .at_least(0)
      .help(
          "how many of the newest checkpoints stay, beside the one of the best evaluation; 0: "
          "all");
  table.add("resume", options.resume)
      .help(
          "auto goes on from the newest whole checkpoint in --output if there is one, must "
          "refuses to begin without one, never begins anew; or the PATH of one of its "
          "checkpoints");
}

}  // namespace odb
