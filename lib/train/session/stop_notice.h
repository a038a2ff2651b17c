// Acknowledges a stop at once: what must end before the run can save may take minutes.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/signals.h"

namespace odb {

// "SIGTERM: finishing the micro-batch and saving", for a run that is in `phase` ("training",
// "evaluating", "saving", else it has not begun). SIGINT: also what a second one does. Pure.
std::string stop_notice(StopReason reason, std::string_view phase);

class StopNotice {
 public:
  // Polls the stop flag ten times a second, and logs one line at the first stop. `phase` is called
  // by its thread. That thread does nothing else, because a reader of the log may make it wait.
  explicit StopNotice(std::function<std::string_view()> phase);
  StopNotice(const StopNotice&) = delete;
  StopNotice& operator=(const StopNotice&) = delete;
  ~StopNotice();

  // The run is leaving: a stop has no effect from now on. Never blocks.
  void end();

 private:
  void watch(const std::function<std::string_view()>& phase);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace odb
