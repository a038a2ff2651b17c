// Peers and Membership for ranks that are threads of one process: the twin of the ones over a
// network, with the same rules about generations.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "batching/peers.h"

namespace odb {

// The shared side. Outlives every Membership and Peers made from it.
class MemoryPeers {
 public:
  explicit MemoryPeers(int world);

  // The way in for rank `rank`. Any number of times: a re-started rank asks again.
  std::unique_ptr<Membership> membership(int rank);

 private:
  class Member;
  class Group;

  struct Exchange {  // one reduction in progress in the newest generation
    std::int64_t number = 0;
    int arrived = 0;
    std::vector<std::int64_t> values;
    std::vector<std::int64_t> finished;  // the values of the reduction before
  };

  bool all_joined() const;  // mutex_ held

  std::mutex mutex_;
  std::condition_variable changed_;
  const int world_;
  std::int64_t generation_ = 0;
  std::vector<bool> joined_;  // by rank: in the newest generation
  Exchange exchange_;
};

}  // namespace odb
