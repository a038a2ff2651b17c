// Peers and Membership for ranks that are threads of one process. Generations follow the same rules
// as over a network.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "batching/peers.h"

namespace odb {

// The shared part. Outlives every Membership and Peers made from it.
class MemoryPeers {
 public:
  explicit MemoryPeers(int world);

  // The membership of rank `rank`. May be called again: a restarted rank does.
  std::unique_ptr<Membership> membership(int rank);

 private:
  class Member;
  class Group;

  struct Exchange {  // one reduction in progress in the newest generation
    std::int64_t number = 0;
    int arrived = 0;
    std::vector<std::int64_t> values;
    std::vector<std::int64_t> finished;  // result of the previous reduction
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
