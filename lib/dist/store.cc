#include "dist/store.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <future>
#include <string_view>
#include <vector>

#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/descriptor_limit.h"
#include "base/error.h"
#include "base/poll_interval.h"
#include "base/signals.h"
#include "base/start_thread.h"
#include "base/text.h"
#include "dist/peer_names.h"

namespace odb {
namespace {

// Also quiets LibTorch's log, which reports every wait that ran out and every attempt to connect;
// what matters of it is in our own messages. SIGPIPE: Gloo writes to sockets whose peer may have
// died. odb-trainer ignores it from its first line; this is for other programs of the library.
c10d::TCPStoreOptions options_for(const HostPort& address) {
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;
  ignore_write_signals();
  name_peers_by_number();
  c10d::TCPStoreOptions options;
  options.port = address.port;
  options.waitWorkers = false;
  return options;
}

using Bytes = std::vector<std::uint8_t>;

Bytes to_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}
std::string to_string(const Bytes& bytes) {
  return {bytes.begin(), bytes.end()};
}

// LibTorch's messages go on with stack frames.
std::string_view first_line(const c10::Error& error) {
  const std::string_view text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

// Runs `call`; what the store's host does not answer becomes an error that names it.
template <typename Call>
auto asking(const HostPort& address, Call call) {
  try {
    return call();
  } catch (const c10::DistError& error) {
    throw PeerLostError("the store at {}, hosted by rank 0, does not answer: {}", to_text(address),
                        first_line(error));
  }
}

using Made = c10::intrusive_ptr<c10d::TCPStore>;

// The host's own connection goes to this name: an image without /etc/hosts may not know localhost.
const char* loopback_name() {
  addrinfo* found = nullptr;
  if (::getaddrinfo("localhost", nullptr, nullptr, &found) != 0) return "127.0.0.1";
  ::freeaddrinfo(found);
  return "localhost";
}

Made make_host(const HostPort& address, c10d::TCPStoreOptions options) {
  options.isServer = true;
  raise_descriptor_limit();
  try {
    return c10::make_intrusive<c10d::TCPStore>(loopback_name(), options);
  } catch (const c10::DistError& error) {
    throw UsageError("rank 0 cannot host the store at {}: {}; choose another port",
                     to_text(address), first_line(error));
  }
}

// Why a host name has no address; empty: it has one. A name server may block it.
std::string why_unresolved(const std::string& host) {
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), nullptr, nullptr, &found);
  if (code != 0)
    return fmt::format("the host name '{}' has no address: {}", host, ::gai_strerror(code));
  ::freeaddrinfo(found);
  return "";
}

// Whether it is ready in time.
template <typename T>
bool await(const std::future<T>& future, std::chrono::milliseconds timeout,
           const std::function<void()>& on_poll) {
  using Clock = std::chrono::steady_clock;
  const auto ends = Clock::now() + timeout;
  do {
    on_poll();
    if (future.wait_until(std::min(ends, Clock::now() + kPollInterval)) ==
        std::future_status::ready)
      return true;
  } while (Clock::now() < ends);
  return false;
}

// Of a socket that listens; closes it when it does not.
std::uint16_t port_of(int listening_socket) {
  sockaddr_storage local = {};
  socklen_t size = sizeof(local);
  int listens = 0;
  socklen_t flag_size = sizeof(listens);
  const bool known =
      ::getsockopt(listening_socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag_size) == 0 &&
      listens != 0 &&
      ::getsockname(listening_socket, reinterpret_cast<sockaddr*>(&local), &size) == 0;
  if (known && local.ss_family == AF_INET)
    return ntohs(reinterpret_cast<const sockaddr_in&>(local).sin_port);
  if (known && local.ss_family == AF_INET6)
    return ntohs(reinterpret_cast<const sockaddr_in6&>(local).sin6_port);
  ::close(listening_socket);
  throw UsageError(
      "rank 0 was given descriptor {} to host the store, which is no TCP socket that "
      "listens",
      listening_socket);
}

}  // namespace

std::chrono::milliseconds store_poll_interval(int world) {
  constexpr std::chrono::milliseconds kLongest{2000};
  return std::clamp(std::chrono::milliseconds(world / 2), kPollInterval, kLongest);
}

struct Store::Connection {
  c10::intrusive_ptr<c10d::TCPStore> store;
};

Store::Store(HostPort address, std::unique_ptr<Connection> connection)
    : address_(std::move(address)), connection_(std::move(connection)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::host(const HostPort& address) {
  auto store = make_host(address, options_for(address));
  const HostPort on{address.host, store->getPort()};
  return {on, std::make_unique<Connection>(Connection{.store = std::move(store)})};
}

Store Store::host(const HostPort& address, int listening_socket) {
  HostPort on = address;
  on.port = port_of(listening_socket);
  if (address.port != 0 && address.port != on.port) {
    ::close(listening_socket);
    throw UsageError("rank 0 was given a socket on port {} to host the store at {}", on.port,
                     to_text(address));
  }
  c10d::TCPStoreOptions options = options_for(on);
  options.masterListenFd = listening_socket;
  return {on, std::make_unique<Connection>(Connection{.store = make_host(on, options)})};
}

// LibTorch's own limit does not cover a name server that is slow, nor a host that accepts and never
// answers. So a thread connects. If it is too late, it is abandoned with what it holds.
Store Store::connect(const HostPort& address, std::chrono::milliseconds timeout,
                     const std::function<void()>& on_poll) {
  const auto connecting = std::make_shared<std::promise<Made>>();
  std::future<Made> made = connecting->get_future();
  start_thread([connecting, address, timeout] {
    c10d::TCPStoreOptions options = options_for(address);
    options.timeout = timeout - timeout / 20;  // its word on what went wrong is to come in time
    try {
      auto store = c10::make_intrusive<c10d::TCPStore>(address.host, options);
      store->setTimeout(timeout);
      connecting->set_value(std::move(store));
    } catch (const c10::DistError& error) {
      const std::string why = why_unresolved(address.host);
      connecting->set_exception(why.empty() ? std::current_exception()
                                            : std::make_exception_ptr(PeerLostError("{}", why)));
    } catch (...) {
      connecting->set_exception(std::current_exception());
    }
  }).detach();
  std::string why = "no answer";
  std::string advice = "is rank 0 running, and is the address right for this machine?";
  try {
    if (await(made, timeout, on_poll))
      return {address, std::make_unique<Connection>(Connection{.store = made.get()})};
  } catch (const c10::DistError& error) {
    why = first_line(error);
  } catch (const PeerLostError& error) {
    why = error.what();
    advice = "check MASTER_ADDR or --rendezvous";
  }
  throw PeerLostError("rank 0's store at {} was not reached in {} s: {}; {}", to_text(address),
                      static_cast<double>(timeout.count()) / 1000, why, advice);
}
void Store::set(const std::string& key, const std::string& value) {
  asking(address_, [&] { connection_->store->set(key, to_bytes(value)); });
}

std::optional<std::string> Store::find(const std::string& key) {
  return asking(address_, [&]() -> std::optional<std::string> {
    if (!connection_->store->check({key})) return std::nullopt;
    return to_string(connection_->store->get(key));
  });
}

std::int64_t Store::add(const std::string& key, std::int64_t amount) {
  return asking(address_, [&] { return connection_->store->add(key, amount); });
}

std::string Store::set_once(const std::string& key, const std::string& value) {
  return asking(address_, [&] {
    return to_string(connection_->store->compareSet(key, {}, to_bytes(value)));
  });
}

bool Store::wait_for(const std::string& key, std::chrono::milliseconds limit) {
  return asking(address_, [&] {
    try {
      connection_->store->wait({key}, limit);
      return true;
    } catch (const c10::DistStoreError&) {  // its word for a wait that ran out
      return false;
    }
  });
}

c10d::Store& Store::libtorch() const {
  return *connection_->store;
}

}  // namespace odb
