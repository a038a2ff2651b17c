// Many seeds of train_with_faults() and of train_with_one_fault().
#pragma once

#include <cstdint>
#include <cstdlib>

#include "catch.h"
#include "one_fault.h"
#include "training_faults.h"

namespace odb {

// `count` of them from `first` on. Every run has to keep its promise, and enough of them have to
// reach their end for that to mean something. With ODB_TEST_REPORTS in the environment all are
// shown.
inline void check_seeds(std::uint64_t first, int count, int world) {
  int exact = 0;
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    const RunVerdict verdict = train_with_faults(seed, world);
    if (std::getenv("ODB_TEST_REPORTS") != nullptr) WARN(verdict.report);
    INFO(verdict.report);
    CHECK(verdict.errors.empty());
    exact += verdict.exact ? 1 : 0;
  }
  CHECK(exact >= count / 4);
}

// The same with one fault each, at any moment.
inline void check_moments(std::uint64_t first, int count) {
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    const RunVerdict verdict = train_with_one_fault(seed);
    if (std::getenv("ODB_TEST_REPORTS") != nullptr) WARN(verdict.report);
    INFO(verdict.report);
    CHECK(verdict.errors.empty());
  }
}

}  // namespace odb
