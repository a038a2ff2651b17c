// Stops that come before the first step, in one process.
#include "train/early_stop.h"

#include <signal.h>

#include <vector>

#include "base/signals.h"
#include "catch.h"
#include "base/progress_callback.h"

using namespace odb;

TEST_CASE("A check for a stop throws after one, and names it") {
  const ScopedStopSignals signals;
  CHECK_NOTHROW(heed_early_stop());
  ::raise(SIGTERM);
  CHECK_THROWS_WITH(heed_early_stop(), "SIGTERM before the first step: nothing to save");
  try {
    heed_early_stop();
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::saved);
  }
}

TEST_CASE("A pass that reports its progress continues until a stop, and no further") {
  const ScopedStopSignals signals;
  std::vector<std::uint64_t> reported;
  const ProgressCallback progress =
      heeding_stops([&](std::uint64_t done, std::uint64_t) { reported.push_back(done); });
  progress(1, 3);
  ::raise(SIGINT);
  CHECK_THROWS_AS(progress(2, 3), StoppedEarly);
  CHECK(reported == std::vector<std::uint64_t>{1});
  CHECK_THROWS_AS(heeding_stops({})(2, 3), StoppedEarly);
}
