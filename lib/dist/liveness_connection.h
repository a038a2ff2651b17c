// Liveness connections: each rank holds a connection to rank 0, so that rank 0 learns at once that
// the rank's process has ended, for whatever reason. The system closes the connection when the
// process ends, and not before: a busy or stopped rank keeps it. A rank sends a byte now and then,
// without meaning, so that a proxy or firewall on the way does not close the connection as idle.
//
// These ranks are not found here, but by their silence (peer_liveness.h): a machine that loses its
// power or its network closes nothing, and a connection that could not be made, or was reset on the
// way, proves nothing.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/descriptor.h"

namespace odb {

// 128 random bits of one run: a connection that does not begin with them is not one of its ranks.
using Nonce = std::array<std::uint64_t, 2>;

struct LivenessAddress {
  std::string host;  // empty: all addresses of rank 0
  std::uint16_t port = 0;
  Nonce nonce{};

  friend bool operator==(const LivenessAddress&, const LivenessAddress&) = default;
};

// "NONCE PORT HOST" as rank 0 publishes it in the store; and back, nothing for another text.
std::string to_text(const LivenessAddress& address);
std::optional<LivenessAddress> parse_liveness_address(const std::string& text);

// Rank 0's end: listens on a free port, on a thread that blocks the stop signals.
class LivenessListener {
 public:
  // `world`: the number of ranks. `host`: the address to listen on, or empty for all. `on_ended` is
  // called on the thread of this object, once for each rank whose connection has been closed; it
  // may not destroy this object. InternalError: the system has no socket left; UsageError: `host`
  // is not an address of this machine; FileError: no thread.
  LivenessListener(int world, const std::string& host, std::function<void(int rank)> on_ended);
  LivenessListener(const LivenessListener&) = delete;
  LivenessListener& operator=(const LivenessListener&) = delete;
  ~LivenessListener();

  const LivenessAddress& address() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

// The end of another rank, open as long as this object lives.
class LivenessConnection {
 public:
  // Connects to rank 0 and sends `rank`; blocks for at most `limit`, which the addresses of the
  // host share, also when its name server does not answer. Nothing: rank 0 cannot be reached.
  static std::optional<LivenessConnection> connect(const LivenessAddress& address, int rank,
                                                   std::chrono::milliseconds limit);

  // Sends the byte that keeps the connection from being idle. Never blocks; does nothing where
  // there is no room for it, or the connection is broken.
  void keep_alive() const;

 private:
  explicit LivenessConnection(Descriptor socket) : socket_(std::move(socket)) {}

  Descriptor socket_;
};

}  // namespace odb
