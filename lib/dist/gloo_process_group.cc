#include "dist/gloo_process_group.h"

#include <chrono>
#include <string_view>
#include <vector>

#include <ATen/ops/empty.h>
#include <net/if.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "base/error.h"
#include "base/start_thread.h"
#include "dist/store.h"

namespace odb {
namespace {

// Gloo counts in nanoseconds: well below 292 years.
constexpr std::chrono::hours kNoLimit{24 * 365 * 10};

class Gloo final : public c10d::ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;

  void close_connection(int peer) {
    for (const auto& context : contexts_)
      if (const auto& pair = context->getPair(peer)) pair->close();
  }
};

std::chrono::milliseconds connect_limit(const GlooGroupOptions& options) {
  // For two ranks that both connect: covers the load on the store and on the machines.
  return options.connect_limit.count() > 0 ? options.connect_limit
                                           : std::chrono::milliseconds(3000 + 10 * options.world);
}

auto make_device(const std::string& network) {
  constexpr bool kConnectWhenUsed = true;
  try {
    return ::if_nametoindex(network.c_str()) != 0
               ? Gloo::createDeviceForInterface(network, kConnectWhenUsed)
               : Gloo::createDeviceForHostname(network, kConnectWhenUsed);
  } catch (const std::exception& error) {
    if (const auto refusal = thread_refusal(error)) throw FileError(*refusal);
    const std::string_view text = error.what();  // stack frames follow
    throw UsageError(
        "cannot listen for other ranks on '{}': {}; expected an interface or an address of this "
        "machine",
        network, text.substr(0, text.find('\n')));
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> gloo_process_group(const Store& store,
                                                     const GlooGroupOptions& options) {
  auto gloo_options = Gloo::Options::create(connect_limit(options));
  gloo_options->devices.push_back(make_device(options.network));
  gloo_options->threads = options.threads;
  auto keys = c10::make_intrusive<c10d::PrefixStore>(
      options.prefix, c10::intrusive_ptr<c10d::Store>::reclaim_copy(&store.libtorch()));
  return c10::make_intrusive<Gloo>(keys, options.rank, options.world, gloo_options);
}

void lift_limits(c10d::Backend& group) {
  group.setTimeout(kNoLimit);
}

// When a wait times out, Gloo ends all operations and connections of the group. So this waits for a
// message that nobody sends. Where a connection is closed already, the next peer serves as well.
void end_operations(c10d::Backend& group, const std::set<int>& peers) {
  constexpr int kUnusedTag = 0x0DB;
  for (const int peer : peers) {
    try {
      std::vector<at::Tensor> never{at::empty({1}, at::kByte)};
      group.recv(never, peer, kUnusedTag)->wait(std::chrono::milliseconds(1));
    } catch (const std::exception&) {  // the limit, or a closed connection
    }
  }
}

void close_connections(c10d::Backend& group, const std::set<int>& peers) {
  for (const int peer : peers)
    static_cast<Gloo&>(group).close_connection(peer);
}

bool is_gloo_fault(const std::exception& error) {
  return dynamic_cast<const gloo::Exception*>(&error) != nullptr;
}

bool gloo_device_works(const std::string& hostname) {
  try {
    return c10d::ProcessGroupGloo::createDeviceForHostname(hostname) != nullptr;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace odb
