#include "dist/rank_heartbeat.h"

#include <unistd.h>

#include <utility>

#include "base/error.h"
#include "base/launch_channel.h"
#include "base/log.h"

namespace odb {

std::unique_ptr<Heartbeat> start_heartbeat(const StoreAddress& store, int rank, int world,
                                           std::chrono::milliseconds timeout,
                                           std::function<std::string()> phase,
                                           std::function<void(const LostPeer&)> before_end) {
  HeartbeatOptions options{.store = store,
                           .prefix = "heartbeat/",
                           .rank = rank,
                           .world = world,
                           .timeout = timeout,
                           .phase = [phase = std::move(phase), channel = PhaseChannel()] {
                             std::string now = phase();
                             channel.tell(now);
                             return now;
                           }};
  const auto end = [store, before_end = std::move(before_end)](const LostPeer& peer) {
    const std::string text = describe_lost(peer, store);
    if (!give_last_words(text)) log("peers").error("{}", text);
    log("peers").flush();
    if (before_end) before_end(peer);
    ::_exit(static_cast<int>(ExitCode::peer_lost));  // other threads may be stuck for ever
  };
  return std::make_unique<Heartbeat>(std::move(options), end);
}

}  // namespace odb
