// The best evaluation of a run so far.
#pragma once

#include <cstdint>

namespace odb {

struct BestEvaluation {
  std::int64_t step = 0;
  double loss = 0;  // mean over supervised tokens
  friend bool operator==(const BestEvaluation&, const BestEvaluation&) = default;
};

}  // namespace odb
