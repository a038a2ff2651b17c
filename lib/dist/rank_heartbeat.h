// The heartbeat of a rank whose loss ends the process: prints who was lost, exits with code 5.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "dist/heartbeat.h"

namespace odb {

// The error with which this process ends when a peer is lost: `loss`, or its known cause. Nothing:
// another thread is ending the process already. Called on the heartbeat's thread, once; may block.
using EndOfProcess = std::function<std::optional<Error>(const LostPeer&, const Error& loss)>;

// Starts the heartbeat of `rank` (heartbeat.h), with keys of its own below "heartbeat/": once in
// the life of a store. `phase` is called on the heartbeat's thread and must not block. When a peer
// is lost, its rank and last phase, or the error of `end` instead, are sent to the launch that
// started this rank (base/launch_channel.h; so is each phase), or logged without one. The process
// then ends with ExitCode::peer_lost, or that error's code, without destructors: other threads may
// be stuck in a collective for ever. PeerLostError: the store was not reached within `timeout`.
std::unique_ptr<Heartbeat> start_heartbeat(const HostPort& store, int rank, int world,
                                           std::chrono::milliseconds timeout,
                                           std::function<std::string()> phase,
                                           EndOfProcess end = {});

// Called by a rank that is about to end: the heartbeats of ranks other than 0 find it lost at their
// next beat, even while it lives; rank 0's does so once its process ends. PeerLostError.
void report_end(Store& store, int rank);

}  // namespace odb
