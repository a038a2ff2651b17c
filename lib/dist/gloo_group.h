// One process of each rank, connected over Gloo, adding up a few integers: a generation of the side
// group of collate processes, or the trainers' votes. Callers see numbers only.
//
// LibTorch's ProcessGroupGloo carries the messages, with connections made when first used: a rank
// connects to the log2(W) others that it exchanges with, not to all. Its all-reduce is not used:
// it takes 2 (W - 1) messages one after another, and once begun it cannot be interrupted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "batching/peers.h"
#include "dist/gloo_options.h"
#include "dist/store.h"

namespace odb {

// Combines a peer's values with this rank's. Both have equal sizes. All ranks must end up with the
// same result in whatever order they are combined: commutative at least.
using Combine =
    std::function<void(std::span<const std::int64_t> received, std::span<std::int64_t> own)>;

class GlooGroup {
 public:
  // Publishes this process's address in `store`, which must outlive it. Does not wait for others;
  // all must have published before the first reduce(), which makes the connections: all ranks call
  // it within seconds of each other. UsageError: no such interface or address.
  GlooGroup(const Store& store, const GlooGroupOptions& options);
  GlooGroup(const GlooGroup&) = delete;
  GlooGroup& operator=(const GlooGroup&) = delete;
  // Closes all connections: peers that wait for this process get an error.
  ~GlooGroup();

  // Element-wise over all ranks, in place. Blocks without limit. False: interrupted, or the
  // connection to a peer broke (see lost_peer()); the group cannot be used any more.
  // InternalError: a peer sent another number of values.
  bool reduce(Reduction reduction, std::vector<std::int64_t>& values);
  // The same with the caller's own function, equal on all ranks.
  bool reduce(const Combine& combine, std::vector<std::int64_t>& values);

  // The peer whose connection broke; -1: none did.
  int lost_peer() const;

  // Makes a reduce() in progress and all later ones return false. Any thread.
  void interrupt();

 private:
  class Connections;
  std::unique_ptr<Connections> connections_;
};

}  // namespace odb
