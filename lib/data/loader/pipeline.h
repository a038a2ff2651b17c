// The trainer's handle on one loader: batches in order, the data state after each of them, and
// statistics. Used by one thread of the process that made it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/liveness_timer.h"
#include "batching/state.h"
#include "data/loader/long_wait.h"
#include "data/loader/processes/fork_server.h"

namespace odb {

// The fork server as its parent sees it.
class ServerProcess {
 public:
  // `beats`: the counter that it increments while it lives.
  ServerProcess(pid_t process, const std::atomic<std::int64_t>& beats)
      : process_(process), beats_(beats) {}

  pid_t process() const { return process_; }
  void notify() const;  // signals that a value in ServerControl has changed
  // InternalError when it has died, or has shown no sign of life for `timeout` while every poll of
  // a wait called this; it is then killed.
  void expect_alive(std::chrono::milliseconds timeout);
  // Waits for its end; kills it after 10 seconds.
  void await_end() noexcept;

 private:
  pid_t process_;
  const std::atomic<std::int64_t>& beats_;
  LivenessTimer liveness_;
  std::string end_;  // how it ended; empty: it runs
  bool reaped_ = false;
};

// Sums over the slots that next() has returned.
struct PipelineStatistics {
  std::int64_t slots = 0;   // without end slots
  std::int64_t groups = 0;  // slots with data
  std::int64_t idle_slots = 0;
  std::int64_t rounds = 0;
  std::int64_t samples = 0;
  std::int64_t tokens = 0;         // real ones
  std::int64_t padded_tokens = 0;  // computed: tokens and padding
  std::int64_t supervised = 0;
  std::int64_t left_out = 0;
  std::int64_t queued = 0;          // finished slots that waited, summed over the calls of next()
  std::int64_t waits = 0;           // calls that had to wait
  double wait_seconds = 0;          // in next()
  std::int64_t deaths = 0;          // data processes of the loader that died
  std::int64_t aligned_rounds = 0;  // with replayed rounds
  double aligning_seconds = 0;      // collate's time in them, with waits for peers

  double padding_fraction() const;
  double budget_fill(std::int64_t l_max) const;  // mean of positions / L_max over groups
  double mean_queue() const;                     // finished slots per call of next()
};

class Pipeline {
 public:
  // Both must outlive it.
  Pipeline(Loader& loader, std::shared_ptr<ServerProcess> server);

  // Sends collate the place to start. Call once after the loader was begun.
  void start(PipelineStart start);

  // The next slot, or nothing when it is not ready within `limit`. Slots come in order, each once;
  // several may be held at a time, up to the depth. The view is valid until release(). Slots that
  // were published before a failure come first. Then throws an Error with the exit code and message
  // of what ended the loader, or InternalError when the fork server died.
  std::optional<BatchView> next(std::chrono::milliseconds limit);

  // Releases the oldest slot that is held. Its memory is then written again.
  void release();

  // The position after the newest slot that next() returned: the state to save when that slot ends
  // a step. Call it before that slot is released. Before the first slot: the start.
  DataState state() const;

  // The pid of the newest process of a role, for tests and reports.
  pid_t collate_process() const { return control().collate_process; }
  pid_t worker_process(int worker) const { return control().builders[worker].process; }
  // What collate is doing, for the heartbeat: "aligning".
  const char* phase() const { return name(control().phase.load()); }

  // Whether the next slot was requested and has not come. A warning of a long wait counts from
  // then.
  bool waiting() const { return waiting_.has_value(); }

  PipelineStatistics statistics() const;
  const LoaderSetup& setup() const { return loader_.setup; }
  // The memory of all slots, to be pinned once for a device.
  std::span<std::byte> arena_memory() const { return loader_.memory.arena.memory(); }

 private:
  LoaderControl& control() const { return *loader_.memory.control; }
  bool await(std::chrono::milliseconds limit);
  void count(const BatchView& batch);
  void follow(const BatchView& batch);
  void throw_failures();

  Loader& loader_;
  std::shared_ptr<ServerProcess> server_;
  DataState start_;
  std::int64_t next_ = 0;      // position
  std::int64_t released_ = 0;  // positions
  // Of the round of the newest slot.
  std::optional<SlotHeader> newest_;
  std::vector<ViewId> taken_;
  std::vector<LeftOut> left_out_;
  PipelineStatistics statistics_;
  std::optional<LongWait> waiting_;  // for the next slot
};

}  // namespace odb
