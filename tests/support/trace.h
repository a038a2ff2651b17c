// Checks the slots that all ranks of a run emitted against the guarantees of batching, and
// describes each violation. For simulated ranks, property tests and the traces of real runs.
//
// Checked:
//   - slot numbers have no gap; number, kind, round, place, totals and last_of_step are equal on
//     all ranks; totals are the sums over ranks of the same slot
//   - at least one rank has data in a slot; a rank has data in all slots of a round or in none, and
//     none after its first idle round
//   - no group is empty; only a single long sample is over budget
//   - every view is trained or left out at most once
//   - at the end every rank reached the end slot, rounds <= views, and (join) every view came
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "batching/group.h"
#include "batching/options.h"
#include "batching/slot.h"

namespace odb {

class TraceChecker {
 public:
  TraceChecker(const BatchingOptions& resolved, std::int64_t data_size, int world,
               std::int64_t first_slot = 0);

  // A run may continue on another number of ranks: earlier calls of add() were for the old ranks,
  // which all stopped before slot `first_slot`. Views that came keep counting.
  void continue_on(int world, std::int64_t first_slot);

  // Slots of one rank come in order; ranks may be interleaved in any order.
  void add(int rank, const Slot& slot);

  // Checks the whole run. `complete`: the epoch was run to its end.
  void finish(bool complete);

  // One sentence each; the first 20 are kept, later ones only counted. Empty: no fault.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  struct RankState {
    std::int64_t next_slot = 0;
    std::int64_t round = -1;
    bool idle_in_round = false;
    bool idle_for_good = false;
    bool ended = false;
  };
  // A slot that some rank has not emitted yet.
  struct Shared {
    Slot first;             // without group and left-out rows
    bool computed = false;  // at least one rank has data
    int ranks = 0;
    SlotTotals sums;
  };

  template <typename... Args>
  void fault(fmt::format_string<Args...> format, Args&&... args);
  void see(ViewId view, const char* how, int rank, const Slot& slot);
  void check_group(int rank, const Slot& slot);
  void check_place(int rank, const Slot& slot);
  void check_shared(int rank, const Slot& slot);

  BatchingOptions options_;
  CostModel model_;
  std::vector<bool> seen_;
  std::int64_t seen_count_ = 0;
  std::vector<RankState> ranks_;
  std::map<std::int64_t, Shared> open_slots_;
  std::int64_t rounds_ = 0;
  std::int64_t last_round_ = -1;
  std::vector<std::string> faults_;
  std::int64_t fault_count_ = 0;
};

}  // namespace odb
