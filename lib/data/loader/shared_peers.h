// Peers and Membership for ranks that are processes of one machine and share memory. Used by runs
// of one rank, and by tests that kill ranks. Ranks over a network: lib/dist.
//
// There are no locks: every rank writes its own numbers into its own buffers and combines all
// buffers itself. If a process is killed, the others wait until the generation is advanced, as
// after a broken connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "batching/options.h"
#include "batching/peers.h"
#include "data/loader/shared/shared_memory.h"
#include "data/loader/shared/wake_up.h"

namespace odb {

// Maximum numbers of one reduction under these options.
std::int64_t max_numbers(const BatchingOptions& resolved);

class SharedPeers {
 public:
  // Reductions of at most `max_numbers` values. Made before the fork; outlives its memberships.
  SharedPeers(const std::string& name, int world, std::int64_t max_numbers);

  void clear();  // back to the state after construction; no process may use it meanwhile

  // The membership of rank `rank`; called in the process that uses it.
  std::unique_ptr<Membership> membership(int rank);

 private:
  class Member;
  class Group;

  struct State {
    alignas(kCacheLine) std::atomic<std::int64_t> generation{0};
    alignas(kCacheLine) WakeUp changed;
  };
  // What a rank shares with the others. Contributions alternate between two buffers: a rank can be
  // one reduction ahead of another, never two.
  struct RankState {
    std::atomic<std::int64_t> joined;           // generation + 1
    std::atomic<std::uint64_t> contributed[2];  // which reduction the buffer holds (stamp())
    std::uint64_t count[2];
  };

  RankState& rank_state(int rank) const;
  std::span<std::int64_t> numbers(int rank, std::size_t place) const;
  // The first rank that has not joined; none: the generation is complete.
  std::optional<int> first_missing(std::int64_t generation) const;
  // A number for reduction `number` of `generation`; never 0, which means none.
  static std::uint64_t stamp(std::int64_t generation, std::int64_t number) {
    return (static_cast<std::uint64_t>(generation) << 40) + static_cast<std::uint64_t>(number) + 1;
  }

  int world_;
  std::size_t max_numbers_;
  std::size_t rank_bytes_;
  SharedObject<State> state_;
  SharedMemory memory_;
};

}  // namespace odb
