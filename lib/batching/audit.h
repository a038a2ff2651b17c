// Checks the ledgers of a run: every view of an epoch must come exactly once over all ranks and all
// process lives.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "batching/item.h"
#include "batching/ledger.h"

namespace odb {

// What the ledgers hold about one epoch. Example lists hold at most 20 views.
struct EpochCoverage {
  std::int64_t trained = 0;
  std::map<LeftOutReason, std::int64_t> left_out;
  std::int64_t repeated = 0;  // times a view came again
  std::int64_t missing = 0;   // views that did not come; expected in an epoch that was not finished
  std::vector<ViewId> repeated_examples;
  std::vector<ViewId> missing_examples;

  bool every_view_once() const { return repeated == 0 && missing == 0; }
};

class LedgerAudit {
 public:
  // For epochs of `data_size` views. `markers`: those of rank 0's file, in any order.
  LedgerAudit(std::int64_t data_size, std::vector<LifeMarker> markers);

  // Counts a step of any rank, in any order. A record that a marker voids counts as void only.
  // DataError: a view outside the data.
  void add(int rank, const StepRecord& record);

  std::int64_t void_steps() const { return void_steps_; }

  // By epoch number; epochs without a valid (not void) record are not in it.
  std::map<std::int64_t, EpochCoverage> coverage() const;

 private:
  struct Epoch {
    std::vector<bool> seen;
    EpochCoverage found;
  };

  bool stands(const StepRecord& record) const;
  void see(Epoch& epoch, ViewId view, int rank, const StepRecord& record) const;

  std::int64_t data_size_;
  std::vector<LifeMarker> markers_;
  std::int64_t void_steps_ = 0;
  std::map<std::int64_t, Epoch> epochs_;
};

}  // namespace odb
