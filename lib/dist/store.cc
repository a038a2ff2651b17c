#include "dist/store.h"

#include <string_view>
#include <vector>

#include <c10/util/Logging.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "base/error.h"
#include "base/text.h"

namespace odb {
namespace {

// Also quiets LibTorch's log, which tells of every wait that ran out and every attempt to connect;
// what matters of it is in our own messages.
c10d::TCPStoreOptions options_for(const StoreAddress& address) {
  FLAGS_caffe2_log_level = c10::GLOG_FATAL;
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
auto asking(const StoreAddress& address, Call call) {
  try {
    return call();
  } catch (const c10::DistError& error) {
    throw PeerLostError("the store at {}, hosted by rank 0, does not answer: {}", to_text(address),
                        first_line(error));
  }
}

}  // namespace

struct Store::Connection {
  c10::intrusive_ptr<c10d::TCPStore> store;
};

std::string to_text(const StoreAddress& address) {
  return fmt::format("{}:{}", address.host, address.port);
}

std::optional<StoreAddress> parse_store_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return std::nullopt;
  const auto port = parse_integer<std::uint16_t>(std::string_view(text).substr(colon + 1));
  if (!port || *port == 0) return std::nullopt;
  return StoreAddress{.host = text.substr(0, colon), .port = *port};
}

Store::Store(StoreAddress address, std::unique_ptr<Connection> connection)
    : address_(std::move(address)), connection_(std::move(connection)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Store Store::host(const StoreAddress& address) {
  c10d::TCPStoreOptions options = options_for(address);
  options.isServer = true;
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>("localhost", options);
    const std::uint16_t port = store->getPort();
    return {{address.host, port},
            std::make_unique<Connection>(Connection{.store = std::move(store)})};
  } catch (const c10::DistError& error) {
    throw UsageError("rank 0 cannot host the store at {}: {}; choose another port",
                     to_text(address), first_line(error));
  }
}

Store Store::connect(const StoreAddress& address, std::chrono::milliseconds timeout) {
  c10d::TCPStoreOptions options = options_for(address);
  options.timeout = timeout;
  try {
    auto store = c10::make_intrusive<c10d::TCPStore>(address.host, options);
    return {address, std::make_unique<Connection>(Connection{.store = std::move(store)})};
  } catch (const c10::DistError& error) {
    throw PeerLostError(
        "rank 0's store at {} was not reached in {} s: {}; is rank 0 running, and is the address "
        "right for this machine?",
        to_text(address), static_cast<double>(timeout.count()) / 1000, first_line(error));
  }
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
