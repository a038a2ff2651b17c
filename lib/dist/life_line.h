// Tells at once of a rank whose process has ended, however it did: each rank holds a connection to
// rank 0. The system closes it when the process ends, and not before: a rank that is busy, or
// stopped, keeps its line. A rank sends a byte now and then, which means nothing, so that what lies
// between (a proxy, a firewall) does not close a line for being idle.
//
// No more than that: a machine that loses its power or its network closes nothing, a line that
// could not be made or was reset on the way proves nothing. Those ranks are found by their silence
// (silence.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.h"

namespace odb {

// Rank 0's end: listens on a free port of all its addresses, on a thread that blocks the stop
// signals.
class LifeLines {
 public:
  // `world`: of ranks. `on_ended` is called on the thread of this object, once for each rank whose
  // line has ended; it may not destroy this object. InternalError: the system has no socket left;
  // std::system_error: no thread.
  LifeLines(int world, std::function<void(int rank)> on_ended);
  LifeLines(const LifeLines&) = delete;
  LifeLines& operator=(const LifeLines&) = delete;
  ~LifeLines();

  std::uint16_t port() const { return port_; }

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
  std::uint16_t port_ = 0;
};

// Another rank's end, held as long as it lives.
class LifeLine {
 public:
  // Connects and tells `rank`; blocks for `limit` at most, which the addresses of `host` share,
  // also when its name server does not answer. Nothing: it cannot be reached.
  static std::optional<LifeLine> connect(const std::string& host, std::uint16_t port, int rank,
                                         std::chrono::milliseconds limit);

  // The byte that keeps the line from being idle. Never blocks; nothing where there is no room for
  // it, or the line is broken.
  void stir() const;

 private:
  explicit LifeLine(Descriptor socket) : socket_(std::move(socket)) {}

  Descriptor socket_;
};

}  // namespace odb
