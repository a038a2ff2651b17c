// What is logged at the first stop, in one process.
#include "train/session/stop_notice.h"

#include <signal.h>

#include <atomic>
#include <memory>
#include <sstream>
#include <thread>

#include <spdlog/sinks/ostream_sink.h>

#include "base/log.h"
#include "catch.h"
#include "texts.h"

using namespace odb;

TEST_CASE("The notice of a stop says what is finished first") {
  CHECK(stop_notice(StopReason::terminate, "training") ==
        "SIGTERM: finishing the micro-batch and saving");
  CHECK(stop_notice(StopReason::interrupt, "training") ==
        "SIGINT: finishing the micro-batch and saving; press again to leave without saving");
  CHECK(stop_notice(StopReason::hangup, "evaluating") ==
        "SIGHUP: ending the evaluation and saving");
  CHECK(stop_notice(StopReason::user, "saving") == "SIGUSR1: the checkpoint is being saved");
  CHECK(stop_notice(StopReason::user2, "joining") ==
        "SIGUSR2: leaving once the model is loaded, there is nothing to save");
}

TEST_CASE("A stop is logged once, and no more after the end") {
  std::ostringstream text;
  set_log_sink(std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
  const ScopedStopSignals signals;
  {
    StopNotice ended([] { return "training"; });
    ended.end();
    ::raise(SIGTERM);
  }
  CHECK(text.str().empty());
  {
    std::atomic<bool> asked{false};
    const StopNotice notice([&] {
      asked = true;
      return "training";
    });
    while (!asked)
      std::this_thread::yield();
    ::raise(SIGUSR1);
  }
  set_log_sink(standard_error_sink());
  CHECK(count_of(text.str(), "SIGTERM: finishing the micro-batch and saving\n") == 1);
  CHECK(count_of(text.str(), "SIGUSR1") == 0);
}
