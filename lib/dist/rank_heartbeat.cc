#include "dist/rank_heartbeat.h"

#include <unistd.h>

#include <utility>

#include "base/launch_channel.h"
#include "base/log.h"
#include "dist/network.h"

namespace odb {
namespace {

constexpr const char* kPrefix = "heartbeat/";

}  // namespace

void end_process(const LostPeer&, const Error& loss) {
  if (!report_final_error(loss.failure())) log("peers").error("{}", loss.what());
  log("peers").flush();
  ::_exit(static_cast<int>(loss.code()));
}

std::unique_ptr<Heartbeat> start_heartbeat(const HostPort& store, int rank, int world,
                                           std::chrono::milliseconds timeout,
                                           std::function<std::string()> phase, OnLost on_lost,
                                           const std::string& network) {
  HeartbeatOptions options{
      .store = store,
      .listen_on = rank == 0 && !network.empty() ? address_of_network(network) : "",
      .prefix = kPrefix,
      .rank = rank,
      .world = world,
      .timeout = timeout,
      .phase = [phase = std::move(phase), channel = PhaseChannel()] {
        std::string now = phase();
        channel.publish(now);
        return now;
      }};
  return std::make_unique<Heartbeat>(
      std::move(options), [store, on_lost = std::move(on_lost)](const LostPeer& peer) {
        on_lost(peer, Error(ExitCode::peer_lost, describe_lost(peer, store)));
      });
}

void report_end(Store& store, int rank) {
  publish_lost(store, kPrefix, {.rank = rank, .phase = "failing", .ended = true});
}

}  // namespace odb
