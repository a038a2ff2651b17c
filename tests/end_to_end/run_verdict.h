// Whether a training that was disturbed has kept the promise of the data path: it ends with exit
// code 0 after every view of every epoch came exactly once, trained or left out with its reason; or
// with one of the exit codes of an early end, with a message, and no view came twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "trainer_runs.h"

namespace odb {

struct ExpectedRun {
  std::int64_t epochs = 1;
  std::int64_t data_size = 0;
  std::set<int> codes;  // of an early end, that are permitted; -signal where one may end it
};

struct RunVerdict {
  std::vector<int> codes;           // by process, as TrainerRun::await_end()
  bool exact = false;               // exit code 0, and every view once
  std::vector<std::string> errors;  // how the promise was broken; empty: kept
  std::string report;               // codes, views and the end of the logs

  // Whether all did.
  bool ended_with(int code) const {
    return std::ranges::all_of(codes, [code](int found) { return found == code; });
  }
};

// Waits for the end of the run, at most kMaxWait: no end is an error, too.
RunVerdict judge_run(TrainerRun& run, const ExpectedRun& expected);

}  // namespace odb
