// Whether the run is asked to stop: by a signal to this rank, by its time limit or, through the
// store, by either of them on another rank, for phases in which ranks do not vote.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "dist/store.h"

namespace odb {

class StopRequest {
 public:
  using Clock = std::chrono::steady_clock;

  // `store` outlives it, and no other thread blocks in it for long. `world`: the number of ranks
  // that ask it. `ends`: the end of the time limit; none: no limit.
  StopRequest(Store& store, int world, std::optional<Clock::time_point> ends);

  // Whether this rank is asked to stop. Never blocks.
  bool here() const;
  // Whether any rank is. Asks the store, at most five times a second, more rarely with many
  // ranks (store_poll_interval). PeerLostError.
  bool anywhere();
  // "SIGTERM", "time limit"; "another rank's request" if this rank was not asked.
  std::string reason() const;

 private:
  Store& store_;
  std::chrono::milliseconds between_looks_;
  std::optional<Clock::time_point> ends_;
  Clock::time_point next_look_;
  bool reported_ = false;  // this rank has published its request
  bool seen_ = false;      // another rank's request was seen
};

}  // namespace odb
