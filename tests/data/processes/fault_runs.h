// Whole runs under random faults, for the short tests and the long ones.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "data/processes/data_processes.h"
#include "data/processes/shared_peers.h"
#include "fake_data.h"
#include "fault_maker.h"

namespace odb {

// An epoch of one rank with a fault before every slot, at least `least_faults` in all; at times the
// trainer lets the arena run full. Fails the test when a slot differs from the pure run's.
void run_with_faults(std::uint64_t seed, int workers, std::int64_t least_faults);

// How ranks meet. `membership` is asked before the ranks' processes are forked; `host` behind that,
// for the store address that they are told.
struct MeetingPlace {
  std::function<MembershipFactory(int rank)> membership;
  std::function<std::string()> host;
};

// The same of `world` ranks over `views` views; now and then two faults at once. They meet over
// shared memory, or at `place`.
void run_ranks_with_faults(std::uint64_t seed, int world, std::int64_t views,
                           const MeetingPlace* place = nullptr);

// One trainer for all ranks: takes slot after slot from each in turn.
class Ranks {
 public:
  // `adjust` may change the setup of each rank.
  Ranks(const FakeData& data, const BatchingOptions& options, int world,
        const MeetingPlace* place = nullptr, const std::function<void(LaneSetup&)>& adjust = {});

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
