// Stops that come before the first step, in one process.
#include "train/session/stop_check.h"

#include <signal.h>

#include <vector>

#include "base/progress_callback.h"
#include "base/signals.h"
#include "catch.h"

using namespace odb;

TEST_CASE("A check for a stop throws after one, and names it") {
  const ScopedStopSignals signals;
  CHECK_NOTHROW(throw_if_stop_requested());
  ::raise(SIGTERM);
  CHECK_THROWS_WITH(throw_if_stop_requested(), "SIGTERM before the first step: nothing to save");
  try {
    throw_if_stop_requested();
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::saved);
  }
}

TEST_CASE("A pass that reports its progress continues until a stop, and no further") {
  const ScopedStopSignals signals;
  std::vector<std::uint64_t> reported;
  const ProgressCallback progress =
      with_stop_checks([&](std::uint64_t done, std::uint64_t) { reported.push_back(done); });
  progress(1, 3);
  ::raise(SIGINT);
  CHECK_THROWS_AS(progress(2, 3), StoppedBeforeTraining);
  CHECK(reported == std::vector<std::uint64_t>{1});
  CHECK_THROWS_AS(with_stop_checks({})(2, 3), StoppedBeforeTraining);
}
