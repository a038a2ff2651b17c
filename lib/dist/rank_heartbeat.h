// The heartbeat of a rank of a run: its keys, its phase, and what the loss of a peer leads to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "dist/heartbeat.h"

namespace odb {

// What happens when a peer is lost. `loss` says so in a sentence. Called on the heartbeat's thread,
// once; may block.
using OnLost = std::function<void(const LostPeer&, const Error& loss)>;

// Sends `loss` to the launch that started this rank (base/launch_channel.h), or logs it without
// one, and ends the process with its exit code, without destructors: other threads may be stuck in
// a collective for ever.
void end_process(const LostPeer& peer, const Error& loss);

// Starts the heartbeat of `rank` (heartbeat.h), with keys of its own below "heartbeat/": once in
// the life of a store. `phase` is called on the heartbeat's thread and must not block; the launch
// that started this rank gets each phase. PeerLostError: the store was not reached within
// `timeout`. `network`: `--network`, on which alone rank 0 then listens; empty: on all addresses.
// UsageError: rank 0's is none of this machine.
std::unique_ptr<Heartbeat> start_heartbeat(const HostPort& store, int rank, int world,
                                           std::chrono::milliseconds timeout,
                                           std::function<std::string()> phase,
                                           OnLost on_lost = end_process,
                                           const std::string& network = "");

// Called by a rank that is about to end: the heartbeats of ranks other than 0 find it lost at their
// next beat, even while it lives; rank 0's does so once its process ends. PeerLostError.
void report_end(Store& store, int rank);

}  // namespace odb
