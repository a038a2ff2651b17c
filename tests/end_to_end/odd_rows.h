// Data with a few rows that take much memory to make into samples, or much time.
#pragma once

#include <set>
#include <string>

#include "trainer_runs.h"

namespace odb {

// Numbers of such rows. They are cut afterwards (--cutoff-len), so the sample is a short one.
struct OddRows {
  std::set<int> large;  // some 40 MB, more than RankTree::limit_memory() leaves
  std::set<int> slow;   // some 0.3 s
};

// A file of `rows` rows, all others short and of lengths that differ; its path.
std::string write_rows(const TrainerRun& run, int rows, const OddRows& odd);

}  // namespace odb
