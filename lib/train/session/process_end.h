// The end of a rank's process where it cannot simply return from main: exactly one thread, this
// one, ends it then, without destructors, because other threads may be stuck for ever.
//
//   state      event                                   next
//   running    second Ctrl-C                           ended: exit code 130
//   running    main thread: expect(failure, limit)     expected
//   running    a lost peer: require(failure, grace)    required
//   expected   main thread returns                     ended, by return, with its own code
//   expected   the limit is over                       ended: the failure's exit code
//   expected   a lost peer: require(failure, grace)    required: the earlier of both limits, and an
//                                                      own failure rather than the loss
//   required   main thread returns within the grace    ended, by return
//   required   the grace is over                       ended: the failure's exit code
//
// The last lines never hold the process: whoever reads them has a second, then it ends without.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "base/failure.h"

namespace odb {

class ProcessEnd {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts the thread, which blocks the stop signals and polls ten times a second for a second
  // Ctrl-C.
  ProcessEnd();
  ProcessEnd(const ProcessEnd&) = delete;
  ProcessEnd& operator=(const ProcessEnd&) = delete;
  // The process ends by returning from main.
  ~ProcessEnd();

  // By the main thread, once it is ending because of `failure`: if the process still lives after
  // `limit`, it ends with that. A later call replaces the failure, and never extends the limit.
  void expect(const Failure& failure, std::chrono::milliseconds limit);
  // By another thread that has found a peer lost, or the reason of its end: the process ends with
  // `failure` after `grace`, unless the main thread ends it before. Only the first call counts.
  void require(const Failure& failure, std::chrono::milliseconds grace);

 private:
  struct Plan {
    Failure failure;
    Clock::time_point at;
  };

  void watch();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  bool required_ = false;
  std::optional<Plan> plan_;
  std::thread thread_;
};

}  // namespace odb
