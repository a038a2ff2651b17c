// Whole runs under random faults, for the short tests and the long ones.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "data/loader/processes/data_processes.h"
#include "data/loader/shared_peers.h"
#include "fake_data.h"
#include "fault_maker.h"

namespace odb {

// An epoch of one rank with a fault before every slot, at least `min_faults` in total; sometimes
// the trainer lets the arena fill up. Fails the test when a slot differs from the pure run's.
void run_with_faults(std::uint64_t seed, int workers, std::int64_t min_faults);

// How ranks find each other. `membership` is called before the ranks' processes are forked; `host`
// after that, for the store address that they get.
struct TestRendezvous {
  std::function<MembershipFactory(int rank)> membership;
  std::function<std::string()> host;
};

// The same with `world` ranks over `views` views; sometimes two faults at once. The ranks connect
// over shared memory, or at `place`.
void run_ranks_with_faults(std::uint64_t seed, int world, std::int64_t views,
                           const TestRendezvous* place = nullptr);

// One trainer for all ranks: takes one slot from each rank in turn.
class Ranks {
 public:
  // `adjust` may change the setup of each rank.
  Ranks(const FakeData& data, const BatchingOptions& options, int world,
        const TestRendezvous* place = nullptr,
        const std::function<void(LoaderSetup&)>& adjust = {});

  // Every rank's slots of the epoch; `between` is called before each slot.
  std::vector<std::vector<Slot>> to_end(const std::function<void()>& between = {});

  const std::vector<Pipeline*>& pipelines() const { return pipelines_; }

 private:
  FakeData data_;
  SharedPeers peers_;
  std::deque<DataProcesses> processes_;
  std::vector<Pipeline*> pipelines_;
};

}  // namespace odb
