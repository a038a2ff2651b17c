// A loader: one stream of batches with its setup and the memory that its processes share. A rank
// has one for training and may have one for evaluation.
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
#include "data/loader/processes/worker.h"
#include "data/loader/samples/build_view.h"
#include "data/loader/samples/view_builder.h"
#include "data/loader/shared/arena.h"
#include "data/loader/shared/loader_control.h"
#include "data/loader/shared/round_log.h"
#include "data/loader/shared/start_message.h"
#include "data/loader/shared_peers.h"

namespace odb {

// Creates the connection to the other ranks. Called in the collate process, once per process life,
// after the fork: everything it opens (sockets, threads) belongs to that process. `store_address`
// is the one given to Pipeline::start(). lib/dist passes in an implementation over Gloo and a
// store; lib/data depends on neither.
using MembershipFactory =
    std::function<std::unique_ptr<Membership>(const std::string& store_address)>;

struct LoaderSetup {
  std::string name = "train";
  RunShape shape;            // of the data: rank r of W draws its share
  BatchingOptions batching;  // resolved
  std::int64_t epochs = 1;   // runs epochs 0..epochs-1, then collate is idle
  int workers = 2;           // 0: collate prepares the samples
  std::int64_t depth = 8;    // slots kept ready, at least 2
  PreprocessingOptions rules;
  bool at_start = true;  // forked with the fork server; else on demand
  // A data process that shows no sign of life for this time is killed and forked again, and the
  // sample that it was preparing is a suspect. A process that waits is never silent.
  std::chrono::milliseconds timeout{300000};
  // Lengths by view for strategies that plan with them; may be empty for other strategies. Called
  // in the collate process.
  std::function<LengthTable(std::int64_t epoch)> lengths;
  ViewBuilderFactory builder;
  MembershipFactory membership;  // empty: no other ranks, or no alignment with them (evaluation)

  Epoch epoch(std::int64_t number) const;
};

struct LoaderMemory {
  // UsageError that names the options when it would need more memory than the machine has.
  explicit LoaderMemory(const LoaderSetup& setup);

  // Back to the state after construction. No process of the loader may be alive.
  void clear();

  // From the setup's factory, or from `single_rank`.
  std::unique_ptr<Membership> membership(const LoaderSetup& setup,
                                         const std::string& store_address);

  SharedObject<LoaderControl> control;
  std::deque<WorkerRings> workers;
  Arena arena;
  RoundLog rounds;
  StartMessage start;
  SharedPeers single_rank;  // of a single rank
};

// The loader's shared memory in the worst case, in bytes.
std::size_t shared_bytes(const LoaderSetup& setup);

}  // namespace odb
