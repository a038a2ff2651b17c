// Ranks as processes of this machine, forked by a command that measures several of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "data/processes/shared_memory.h"
#include "data/processes/wake_up.h"

namespace odb {

// Where the ranks of one command meet. Lies in shared memory.
class LocalMeeting {
 public:
  // By rank 0: the port of the store on this machine.
  void tell_port(std::uint16_t port);
  // Waits for it; the other processes of the command die with their parent, so this has no limit.
  std::uint16_t await_port();

  // Waits until all `world` ranks have called for the `time`-th time, 1 being the first. False:
  // they have not within `limit`.
  bool await_all(int world, int time, std::chrono::milliseconds limit);

 private:
  std::atomic<std::uint32_t> port_{0};
  std::atomic<std::int32_t> arrived_{0};
  WakeUp changed_;
};

inline constexpr std::int64_t kMostLocalRanks = 256;

// An Error of ExitCode::interrupted when a stop signal has come to this process.
void throw_if_stopped();

// Forks `world` processes that run `body` (their exit code), each with its rank, and waits for all.
// An Error with the exit code of the first that failed; a killed one counts as a lost peer. Once
// one has failed the others have `patience` to find out and leave by themselves; then they are
// killed, as they are at once by a stop signal, which throw_if_stopped() tells. The process must
// have a single thread.
void run_local_ranks(int world, std::chrono::milliseconds patience,
                     const std::function<int(int rank)>& body);

}  // namespace odb
