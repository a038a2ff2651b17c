// The key-value store through which the processes of a run find each other: LibTorch's TCPStore,
// hosted by the trainer of rank 0, reached by every trainer and collate process.
//
// One Store is one connection; calls of several threads on it wait for each other, so a thread that
// waits long (wait_for) needs a connection of its own. A call blocks until the host answers: a host
// that is stopped but not gone is detected by heartbeat.h, not here. A host that is gone:
// PeerLostError naming the address.
//
// A process with a Store ignores SIGPIPE (base/signals.h), whatever its main does: a write to a
// dead peer must not end it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/host_port.h"

namespace c10d {
class Store;
}

namespace odb {

// How often one of `world` ranks may ask the store while it waits: all of them together at most
// 2,000 times a second, each at least once in 2 s.
std::chrono::milliseconds store_poll_interval(int world);

class Store {
 public:
  // Hosts the store in this process, on all interfaces, and connects to it. Port 0: a free one.
  // Each connection of each rank is a descriptor here, so this process's limit on them is raised as
  // far as it may be.
  // `host` is the name by which other ranks reach this machine. UsageError: the port is taken.
  static Store host(const HostPort& address);
  // The same on a socket that listens already, so that others may know the port, and connect,
  // before the store exists. Takes ownership of the socket. address.port: the socket's, or 0.
  // UsageError: it does not listen, or on another port.
  static Store host(const HostPort& address, int listening_socket);

  // Connects, trying again until `timeout`, which holds also when the host's machine is gone, or
  // the host accepts and never answers. PeerLostError: nobody answered. `on_poll` is called several
  // times a second meanwhile; what it throws ends the wait.
  static Store connect(
      const HostPort& address, std::chrono::milliseconds timeout,
      const std::function<void()>& on_poll = [] {});

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  const HostPort& address() const { return address_; }

  void set(const std::string& key, const std::string& value);
  // The current value, if there is one.
  std::optional<std::string> find(const std::string& key);
  // Adds to a counter that starts at 0; returns its new value.
  std::int64_t add(const std::string& key, std::int64_t amount);
  // Sets `key` if it is not set; returns its value then.
  std::string set_once(const std::string& key, const std::string& value);
  // True once `key` is set; false after `limit`. The host waits, not this process: no polling.
  bool wait_for(const std::string& key, std::chrono::milliseconds limit);

  // The store for LibTorch's own classes.
  c10d::Store& libtorch() const;

 private:
  struct Connection;
  Store(HostPort address, std::unique_ptr<Connection> connection);

  HostPort address_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace odb
