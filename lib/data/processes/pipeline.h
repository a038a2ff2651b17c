// The trainer's handle on one lane: batches in order, the data state behind them, and what it took.
// Used by one thread of the process that made it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batching/state.h"
#include "data/processes/fork_server.h"
#include "data/processes/long_wait.h"
#include "data/processes/silence.h"

namespace odb {

// The fork server as its parent sees it.
class ServerProcess {
 public:
  // `beats`: the word that it raises as long as it lives.
  ServerProcess(pid_t process, const std::atomic<std::int64_t>& beats)
      : process_(process), beats_(beats) {}

  pid_t process() const { return process_; }
  void tell() const;  // that a shared word has changed
  // InternalError when it has died, or has shown no sign of life for `timeout` while this was asked
  // at every glance; it is then killed.
  void expect_alive(std::chrono::milliseconds timeout);
  // Waits for its end; after 10 seconds it is killed.
  void await_end() noexcept;

 private:
  pid_t process_;
  const std::atomic<std::int64_t>& beats_;
  Silence silence_;
  std::string end_;  // how it ended; empty: it has not
  bool reaped_ = false;
};

// Sums over the slots that next() has given.
struct PipelineStatistics {
  std::int64_t slots = 0;   // without end slots
  std::int64_t groups = 0;  // slots with data
  std::int64_t idle_slots = 0;
  std::int64_t rounds = 0;
  std::int64_t samples = 0;
  std::int64_t tokens = 0;     // real ones
  std::int64_t positions = 0;  // computed: tokens and padding
  std::int64_t supervised = 0;
  std::int64_t left_out = 0;
  std::int64_t queued = 0;          // finished slots that waited, summed over the calls of next()
  std::int64_t waits = 0;           // calls that had to wait
  double wait_seconds = 0;          // in next()
  std::int64_t deaths = 0;          // data processes of the lane that died and were forked again
  std::int64_t aligned_rounds = 0;  // replayed ones included
  double aligning_seconds = 0;      // collate's, in those; peers waited for

  double padding_fraction() const;
  double budget_fill(std::int64_t l_max) const;  // mean of positions / L_max over groups
  double mean_queue() const;                     // finished slots at a call of next()
};

class Pipeline {
 public:
  // Both must outlive it.
  Pipeline(Lane& lane, std::shared_ptr<ServerProcess> server);

  // Tells collate where to begin. Once; again after the lane was begun anew.
  void start(PipelineStart start);

  // The next slot, or nothing when it is not at hand within `limit`. Slots are given in order, each
  // once; several may be held at a time, up to the depth. The view is valid until release(). Slots
  // that were published before a failure come first; then an Error with the exit code and text of
  // whatever ended the lane is thrown, InternalError when the fork server died.
  std::optional<BatchView> next(std::chrono::milliseconds limit);

  // Gives the oldest slot back that was not yet. Its memory is then written again.
  void release();

  // The position behind the newest slot that next() gave: the state to save when that slot ends a
  // step. To be asked before that slot is released. Before the first slot: the start.
  DataState state() const;

  // The number of the newest process of a role, for tests and reports.
  pid_t collate_process() const { return control().collate_process; }
  pid_t worker_process(int worker) const { return control().makers[worker].process; }
  // What collate is doing, for the heartbeat: "aligning".
  const char* phase() const { return to_text(control().phase.load()); }

  // Whether the next slot was asked for and has not come: what a warning of a long wait counts
  // from.
  bool waiting() const { return waiting_.has_value(); }

  PipelineStatistics statistics() const;
  const LaneSetup& setup() const { return lane_.setup; }
  // The memory of all slots, to be registered with a device once.
  std::span<std::byte> arena_memory() const { return lane_.memory.arena.memory(); }

 private:
  LaneControl& control() const { return *lane_.memory.control; }
  bool await(std::chrono::milliseconds limit);
  void count(const BatchView& batch);
  void follow(const BatchView& batch);
  void throw_failures();

  Lane& lane_;
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
