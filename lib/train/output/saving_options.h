// Group "checkpoints": when a run saves, what stays, and whether it goes on from what is there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/amount.h"
#include "base/options/table.h"

namespace odb {

struct SavingOptions {
  std::optional<Amount> save_every;  // none: only at the end of the run
  std::int64_t keep = 3;             // the newest ones that stay; 0: all
  std::string resume = "auto";       // auto, never, must, or the path of a checkpoint
};
void describe(OptionTable& table, SavingOptions& options);

// Whether `resume` is the path of a checkpoint.
bool is_checkpoint_path(const std::string& resume);

}  // namespace odb
