#include "train/session/process_end.h"

#include <unistd.h>

#include <algorithm>
#include <future>
#include <string>
#include <utility>

#include "base/launch_channel.h"
#include "base/log.h"
#include "base/poll_interval.h"
#include "base/signals.h"
#include "base/start_thread.h"

namespace odb {
namespace {

// The log may block: another thread may hold its lock in a write that nobody reads.
constexpr std::chrono::seconds kLastLines{1};

[[noreturn]] void end_process(const Failure& failure) {
  if (!report_final_error(failure)) {
    std::promise<void> written;
    const std::future<void> done = written.get_future();
    try {
      start_thread([written = std::move(written), message = failure.message]() mutable {
        log("peers").error("{}", message);
        log("peers").flush();
        written.set_value();
      }).detach();
      done.wait_for(kLastLines);
    } catch (const FileError&) {  // no thread: the exit code alone has to do
    }
  }
  ::_exit(static_cast<int>(failure.code));
}

}  // namespace

ProcessEnd::ProcessEnd() {
  thread_ = start_thread([this] { watch(); });
}

ProcessEnd::~ProcessEnd() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ProcessEnd::expect(const Failure& failure, std::chrono::milliseconds limit) {
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point at = Clock::now() + limit;
    plan_ = Plan{.failure = failure, .at = plan_ ? std::min(plan_->at, at) : at};
  }
  changed_.notify_all();
}

void ProcessEnd::require(const Failure& failure, std::chrono::milliseconds grace) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(required_, true)) return;
    const Clock::time_point at = Clock::now() + grace;
    const bool knows_more = plan_ && plan_->failure.cause == FailureCause::own;
    plan_ = Plan{.failure = knows_more ? plan_->failure : failure,
                 .at = plan_ ? std::min(plan_->at, at) : at};
  }
  changed_.notify_all();
}

void ProcessEnd::watch() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (stop_state().leave_now)
      end_process(
          {.code = ExitCode::interrupted, .message = "a second Ctrl-C: leaving without saving"});
    if (plan_ && Clock::now() >= plan_->at) end_process(plan_->failure);
    Clock::time_point next = Clock::now() + kPollInterval;
    if (plan_) next = std::min(next, plan_->at);
    changed_.wait_until(lock, next);
  }
}

}  // namespace odb
