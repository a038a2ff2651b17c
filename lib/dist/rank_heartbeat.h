// The heartbeat of a rank whose loss ends the process: prints who was lost, exits with code 5.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "dist/heartbeat.h"

namespace odb {

// Starts the heartbeat of `rank` (heartbeat.h), with keys of its own below "heartbeat/": once in
// the life of a store. `phase` is asked on the heartbeat's thread and must not block. When a peer
// is lost, its rank and last phase are logged, or told to the launch that started this rank
// (base/launch_channel.h; so is each phase), `before_end` is called on the heartbeat's thread, and
// the process ends with ExitCode::peer_lost, without destructors: other threads may be stuck in a
// collective for ever. PeerLostError: the store was not reached within `timeout`.
std::unique_ptr<Heartbeat> start_heartbeat(const StoreAddress& store, int rank, int world,
                                           std::chrono::milliseconds timeout,
                                           std::function<std::string()> phase,
                                           std::function<void(const LostPeer&)> before_end = {});

}  // namespace odb
