// One stream of batches: what it is made of, and the memory that its processes share. A rank has
// one for training and may have one for evaluation.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "batching/options.h"
#include "batching/peers.h"
#include "batching/rounds.h"
#include "batching/strategies/make_source.h"
#include "data/processes/arena.h"
#include "data/processes/lane_control.h"
#include "data/processes/make_view.h"
#include "data/processes/round_log.h"
#include "data/processes/shared_peers.h"
#include "data/processes/start_note.h"
#include "data/processes/view_maker.h"
#include "data/processes/worker.h"

namespace odb {

// Makes the way to the other ranks. Called in the collate process, once a life, behind the fork:
// whatever it opens (sockets, threads) belongs to that process. `store_address` is what the trainer
// gave to Pipeline::start(). The implementation over Gloo and a store belongs to lib/dist, which
// hands it in here; data knows neither.
using MembershipFactory =
    std::function<std::unique_ptr<Membership>(const std::string& store_address)>;

struct LaneSetup {
  std::string name = "train";
  RunShape shape;            // of the data: rank r of W draws its share
  BatchingOptions batching;  // resolved
  std::int64_t epochs = 1;   // epochs 0..epochs-1 are gone through, then collate stands idle
  int workers = 2;           // 0: collate makes the samples
  std::int64_t depth = 8;    // slots kept ready, at least 2
  MakingRules rules;
  bool at_start = true;  // forked with the fork server; else on demand
  // A data process that shows no sign of life for so long is killed and forked again, and the
  // sample that it was making is a suspect. Waiting is no silence, whoever is waited for.
  std::chrono::milliseconds timeout{300000};
  // Lengths by view for strategies that plan with them; may be empty for the others. Called in the
  // collate process.
  std::function<LengthTable(std::int64_t epoch)> lengths;
  ViewMakerFactory maker;
  MembershipFactory membership;  // empty: no other ranks, or none to keep step with (evaluation)

  Epoch epoch(std::int64_t number) const;
};

struct LaneMemory {
  // UsageError naming the options when it can be seen to need more memory than the machine has.
  explicit LaneMemory(const LaneSetup& setup);

  // As new. No process of the lane may be alive.
  void clear();

  // By the setup's factory, or the way into `alone`.
  std::unique_ptr<Membership> membership(const LaneSetup& setup, const std::string& store_address);

  SharedObject<LaneControl> control;
  std::deque<WorkerRings> workers;
  Arena arena;
  RoundLog rounds;
  StartNote start;
  SharedPeers alone;  // of a single rank
};

// What the lane's shared memory comes to in the worst case, in bytes.
std::size_t shared_bytes(const LaneSetup& setup);

}  // namespace odb
