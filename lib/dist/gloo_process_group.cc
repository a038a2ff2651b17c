#include "dist/gloo_process_group.h"

#include <chrono>
#include <exception>

#include <net/if.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "base/error.h"
#include "dist/store.h"

namespace odb {
namespace {

class Gloo final : public c10d::ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;

  void close_connection(int peer) {
    for (const auto& context : contexts_)
      if (const auto& pair = context->getPair(peer)) pair->close();
  }
};

// For two ranks that both want to be connected: the load on the store and on the machines.
std::chrono::milliseconds connect_limit(int world) {
  return std::chrono::milliseconds(3000 + 10 * world);
}

auto make_device(const std::string& network) {
  constexpr bool kConnectWhenUsed = true;
  try {
    return ::if_nametoindex(network.c_str()) != 0
               ? Gloo::createDeviceForInterface(network, kConnectWhenUsed)
               : Gloo::createDeviceForHostname(network, kConnectWhenUsed);
  } catch (const std::exception& error) {
    throw UsageError(
        "cannot listen for other ranks on '{}': {}; wanted an interface or an address of this "
        "machine",
        network, error.what());
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> gloo_process_group(const Store& store, const std::string& prefix,
                                                     const std::string& network, int rank,
                                                     int world) {
  auto options = Gloo::Options::create(connect_limit(world));
  options->devices.push_back(make_device(network));
  options->threads = 1;
  auto keys = c10::make_intrusive<c10d::PrefixStore>(
      prefix, c10::intrusive_ptr<c10d::Store>::reclaim_copy(&store.libtorch()));
  return c10::make_intrusive<Gloo>(keys, rank, world, options);
}

void close_connections(c10d::Backend& group, const std::set<int>& peers) {
  for (const int peer : peers)
    static_cast<Gloo&>(group).close_connection(peer);
}

}  // namespace odb
