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

// What this process is to end with, a peer being lost: `loss`, or what is known to be behind it.
// Nothing: another thread is ending the process already. Called on the heartbeat's thread, once;
// may block.
using EndOfProcess = std::function<std::optional<Error>(const LostPeer&, const Error& loss)>;

// Starts the heartbeat of `rank` (heartbeat.h), with keys of its own below "heartbeat/": once in
// the life of a store. `phase` is asked on the heartbeat's thread and must not block. When a peer
// is lost, its rank and last phase, or what `end` answers in their place, are logged, or told to
// the launch that started this rank (base/launch_channel.h; so is each phase), and the process ends
// with ExitCode::peer_lost, or that error's code, without destructors: other threads may be stuck
// in a collective for ever. PeerLostError: the store was not reached within `timeout`.
std::unique_ptr<Heartbeat> start_heartbeat(const StoreAddress& store, int rank, int world,
                                           std::chrono::milliseconds timeout,
                                           std::function<std::string()> phase,
                                           EndOfProcess end = {});

// By a rank that is about to end by itself: the heartbeats of ranks other than 0 take it for lost
// at their next beat, also while it still lives; rank 0's does once its process ends.
// PeerLostError.
void tell_end(Store& store, int rank);

}  // namespace odb
