#include "dist/rank_heartbeat.h"

#include <unistd.h>

#include <utility>

#include "base/launch_channel.h"
#include "base/log.h"

namespace odb {
namespace {

constexpr const char* kPrefix = "heartbeat/";

}  // namespace

std::unique_ptr<Heartbeat> start_heartbeat(const HostPort& store, int rank, int world,
                                           std::chrono::milliseconds timeout,
                                           std::function<std::string()> phase, EndOfProcess end) {
  HeartbeatOptions options{.store = store,
                           .prefix = kPrefix,
                           .rank = rank,
                           .world = world,
                           .timeout = timeout,
                           .phase = [phase = std::move(phase), channel = PhaseChannel()] {
                             std::string now = phase();
                             channel.publish(now);
                             return now;
                           }};
  const auto on_lost = [store, end = std::move(end)](const LostPeer& peer) {
    const Error loss(ExitCode::peer_lost, describe_lost(peer, store));
    const std::optional<Error> error = end ? end(peer, loss) : loss;
    if (!error) return;
    if (!report_final_error(error->what())) log("peers").error("{}", error->what());
    log("peers").flush();
    ::_exit(static_cast<int>(error->code()));  // other threads may be stuck for ever
  };
  return std::make_unique<Heartbeat>(std::move(options), on_lost);
}

void report_end(Store& store, int rank) {
  publish_lost(store, kPrefix, {.rank = rank, .phase = "failing", .ended = true});
}

}  // namespace odb
