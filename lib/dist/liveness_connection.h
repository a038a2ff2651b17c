// Liveness connections: each rank holds a connection to rank 0, so that rank 0 learns at once that
// the rank's process has ended, for whatever reason. The system closes the connection when the
// process ends, and not before: a busy or stopped rank keeps it. A rank sends a byte now and then,
// without meaning, so that a proxy or firewall on the way does not close the connection as idle.
//
// These ranks are not found here, but by their silence (peer_liveness.h): a machine that loses its
// power or its network closes nothing, and a connection that could not be made, or was reset on the
// way, proves nothing.
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
class LivenessListener {
 public:
  // `world`: the number of ranks. `on_ended` is called on the thread of this object, once for each
  // rank whose connection has been closed; it may not destroy this object. InternalError: the
  // system has no socket left; std::system_error: no thread.
  LivenessListener(int world, std::function<void(int rank)> on_ended);
  LivenessListener(const LivenessListener&) = delete;
  LivenessListener& operator=(const LivenessListener&) = delete;
  ~LivenessListener();

  std::uint16_t port() const { return port_; }

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
  std::uint16_t port_ = 0;
};

// The end of another rank, open as long as this object lives.
class LivenessConnection {
 public:
  // Connects and sends `rank`; blocks for at most `limit`, which the addresses of `host` share,
  // also when its name server does not answer. Nothing: rank 0 cannot be reached.
  static std::optional<LivenessConnection> connect(const std::string& host, std::uint16_t port,
                                                   int rank, std::chrono::milliseconds limit);

  // Sends the byte that keeps the connection from being idle. Never blocks; does nothing where
  // there is no room for it, or the connection is broken.
  void keep_alive() const;

 private:
  explicit LivenessConnection(Descriptor socket) : socket_(std::move(socket)) {}

  Descriptor socket_;
};

}  // namespace odb
