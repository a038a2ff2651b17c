// The process groups of the trainers: one that reduces gradients on their device, one that carries
// small numbers between their CPUs, so that a vote never waits for gradients.
//
// Neither group has a progress timeout: a peer may evaluate or save for as long as it likes. A
// closed connection is a lost peer (peer_loss.h); a peer that neither answers nor ends is found by
// the heartbeat (rank_heartbeat.h), which has the process ended.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <c10/util/intrusive_ptr.h>
#include <torch/types.h>

#include "dist/store.h"

namespace c10d {
class Backend;
class ProcessGroup;
}  // namespace c10d

namespace odb {

class GlooGroup;

// `--backend`: "auto", "gloo", "nccl".
enum class BackendChoice { automatic, gloo, nccl };
BackendChoice backend_choice(const std::string& option);

// UsageError: the backend cannot work on the device, or in this build. Joining checks it, too.
void require_backend(BackendChoice backend, const torch::Device& device);

struct TrainingGroupsOptions {
  std::string prefix;   // of keys in the store: one run of one set of processes; never used twice
  std::string network;  // an interface or a local address; empty: the address towards the store
  int rank = 0;
  int world = 1;
  torch::Device device{torch::kCPU};                  // of the gradients
  BackendChoice backend = BackendChoice::automatic;   // automatic: NCCL on CUDA, else Gloo
  std::chrono::milliseconds connect_timeout{300000};  // until all ranks have joined
};

class TrainingGroups {
 public:
  // Joins: blocks until all ranks have joined, at most connect_timeout, and connects to them. Has a
  // connection of its own to the host of `store`. PeerLostError: names the ranks that did not join,
  // or ranks cannot be reached. UsageError: no such network; NCCL on a CPU, or in a build or on a
  // machine without it.
  TrainingGroups(const Store& store, const TrainingGroupsOptions& options);
  TrainingGroups(TrainingGroups&&) noexcept;
  TrainingGroups& operator=(TrainingGroups&&) noexcept;
  // Closes all connections; peers that wait for this rank get a PeerLostError. Returns even when a
  // collective is under way that a peer will never finish.
  ~TrainingGroups();

  // On the device: what c10d::Reducer takes. Valid as long as this object.
  c10::intrusive_ptr<c10d::ProcessGroup> training() const;
  // Gloo, for small tensors on the CPU: all-reduce, all-gather, broadcast, barrier. Wrap calls in
  // as_peer_loss(). Pass its barrier before leaving: a rank that leaves early cuts off the others.
  c10::intrusive_ptr<c10d::Backend> control() const;

  // For ControlChannel: votes take log2(W) messages, where control() takes 2 (W - 1).
  GlooGroup& votes();

  int rank() const;
  int world() const;
  const torch::Device& device() const;
  // "gloo" or "nccl": the backend of training().
  const char* backend_name() const;

 private:
  struct Groups;
  std::unique_ptr<Groups> groups_;
};

}  // namespace odb
