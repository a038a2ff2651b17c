#include "train/session/stop_request.h"

#include <algorithm>

#include "base/signals.h"

namespace odb {
namespace {

constexpr const char* kKey = "stop";
constexpr std::chrono::milliseconds kBetweenLooks{200};

}  // namespace

StopRequest::StopRequest(Store& store, int world, std::optional<Clock::time_point> ends)
    : store_(store),
      between_looks_(std::max(kBetweenLooks, store_poll_interval(world))),
      ends_(ends),
      next_look_(Clock::now()) {}

bool StopRequest::here() const {
  return stop_state().stop() || (ends_ && Clock::now() >= *ends_);
}

bool StopRequest::anywhere() {
  if (here()) {
    if (!reported_) store_.set(kKey, "1");
    reported_ = true;
    return true;
  }
  if (seen_ || Clock::now() < next_look_) return seen_;
  next_look_ = Clock::now() + between_looks_;
  seen_ = store_.find(kKey).has_value();
  return seen_;
}

std::string StopRequest::reason() const {
  if (stop_state().stop()) return name(stop_state().reason);
  return here() ? "time limit" : "another rank's request";
}

}  // namespace odb
