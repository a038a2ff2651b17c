// state.json of a checkpoint: the state of a run that is equal on all ranks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "train/step/evaluation_schedule.h"
#include "train/step/progress.h"

namespace odb {

struct RunState {
  RunTotals totals;                    // totals.steps is the checkpoint's step
  std::optional<BestEvaluation> best;  // none yet
  bool evaluation_open = false;        // an evaluation was interrupted and must run again
  std::int64_t world_size = 1;
  std::uint64_t seed = 0;
  std::int64_t data_size = 0;
  std::int64_t life = 0;
  std::string options;  // options_fingerprint of the batching options
  std::string inputs;   // what the ranks read (input_facts); empty in states of earlier builds

  friend bool operator==(const RunState&, const RunState&) = default;
};

// Pretty JSON with a final line feed; equal states give equal bytes. Does not contain
// totals.seconds, which belong to a process life.
std::string to_json(const RunState& state);
// FileError beginning with `where`: not JSON, a key missing or of the wrong kind, another version.
RunState parse_run_state(std::string_view text, const std::string& where);

}  // namespace odb
