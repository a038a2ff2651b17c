// Ranks as processes of this machine, forked by a command that measures several of them.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "data/loader/shared/shared_memory.h"
#include "data/loader/shared/wake_up.h"

namespace odb {

// Where the ranks of one command meet. In shared memory.
class LocalRendezvous {
 public:
  // By rank 0: publishes the port of the store on this machine.
  void publish_port(std::uint16_t port);
  // Waits for the port, without limit, because processes of the command die with their parent.
  std::uint16_t await_port();

  // Waits until all `world` ranks have made the `time`-th call, counted from 1. False: they have
  // not within `limit`.
  bool await_all(int world, int time, std::chrono::milliseconds limit);

 private:
  std::atomic<std::uint32_t> port_{0};
  std::atomic<std::int32_t> arrived_{0};
  WakeUp changed_;
};

inline constexpr std::int64_t kMaxLocalRanks = 256;

// Throws an Error of ExitCode::interrupted if this process has received a stop signal.
void throw_if_interrupted();

// Forks `world` processes that run `body` (it returns their exit code), each with its rank, and
// waits for all. Throws an Error with the exit code of the first that failed; a killed one counts
// as a lost peer. After a failure, the others have `patience` to notice it and leave by themselves;
// then they are killed. A stop signal kills them at once, as throw_if_interrupted(). The process
// must have a single thread.
void run_local_ranks(int world, std::chrono::milliseconds patience,
                     const std::function<int(int rank)>& body);

}  // namespace odb
