// Who asks the run to stop: a signal to this rank, or its time limit; and, through the store,
// either of them on another rank, for phases in which ranks do not vote.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "dist/store.h"

namespace odb {

class StopRequest {
 public:
  using Clock = std::chrono::steady_clock;

  // `store` outlives it and is used by no other thread that waits long. `ends`: when the time limit
  // is over; none: no limit.
  StopRequest(Store& store, std::optional<Clock::time_point> ends);

  // On this rank. Never blocks.
  bool here() const;
  // On any rank. Asks the store, at most five times a second. PeerLostError.
  bool anywhere();
  // "SIGTERM", "time limit"; "another rank's request" where this rank did not ask.
  std::string reason() const;

 private:
  Store& store_;
  std::optional<Clock::time_point> ends_;
  Clock::time_point next_look_;
  bool told_ = false;  // the others, by this rank
  bool seen_ = false;  // another rank's
};

}  // namespace odb
