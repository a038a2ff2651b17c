#include "train/session/leave_now_watch.h"

#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/poll_interval.h"
#include "base/signals.h"

namespace odb {

LeaveNowWatch::LeaveNowWatch() {
  const ScopedSignalBlock block;
  thread_ = std::thread([this] {
    while (!stop_.load()) {
      if (stop_state().leave_now) {
        log("train").error("a second Ctrl-C: leaving without saving");
        log("train").flush();
        ::_exit(static_cast<int>(ExitCode::interrupted));
      }
      std::this_thread::sleep_for(kPollInterval);
    }
  });
}

LeaveNowWatch::~LeaveNowWatch() {
  stop_ = true;
  thread_.join();
}

}  // namespace odb
