// How the ranks of a run find each other, report why one cannot go on, and leave.
//
//   Rendezvous(...)             all are connected to the store
//   start_heartbeat(...)        from here on, a rank that falls silent is detected
//   publish_config(...)         rank 0: it holds the run's folder
//   await_config(...)           the others: they have the same options
//   compare_inputs(...)         all read the same
//   ... the groups are created over the store, and the run takes place ...
//   leave()                     cleanly: rank 0's store stays until nobody needs it
//   publish_failure(error), await_cause(error)  on failure: all ranks leave with the same cause
//   report_early_failure(error)  instead of all that: this rank failed before it connected
//
// Until all ranks have compared what they read, a stop ends waits for others (stop_check.h).
//
// A rank that fails by itself reports why to the store (failure_report.h), breaks its connections,
// and ends without leave(), wherever the others are. A rank that finds a connection broken reads
// the report. A rank that does not, because a collective on a GPU then only hangs, is ended by its
// heartbeat, which detects the lost rank and reads the report, too.
//
// A run of one rank has a store, for its data processes, and waits for nobody.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"
#include "dist/heartbeat.h"
#include "dist/store.h"
#include "train/session/failure_report.h"
#include "train/session/launch_config.h"
#include "train/session/process_end.h"

namespace odb {

class Rendezvous {
 public:
  // Hosts the store as rank 0, otherwise connects to it: blocks until it exists, at most `timeout`
  // (`--timeout`). PeerLostError: nobody hosts it. UsageError: the port is taken.
  // StoppedBeforeTraining.
  Rendezvous(const LaunchConfig& launch, std::chrono::milliseconds timeout);
  // The same, with `on_poll` called now and then while it connects; it may throw to end that.
  Rendezvous(const LaunchConfig& launch, std::chrono::milliseconds timeout,
             const std::function<void()>& on_poll);
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  // Without leave() before, the others consider this rank lost.
  ~Rendezvous();

  Store& store() { return store_; }

  // From now on this rank sends heartbeats, and a lost peer makes `end` end this process, with the
  // exit code and the message of the rank that failed if one has reported them. If this rank is
  // already ending by publish_failure(), it has two seconds for that. `phase` and `before_end` are
  // called on another thread; `phase` must not block. `end` outlives this. Does nothing in a run of
  // one rank. `network`: `--network`. PeerLostError. UsageError: rank 0's is none of this machine.
  void start_heartbeat(ProcessEnd& end, std::function<std::string()> phase,
                       std::function<void(const LostPeer&)> before_end,
                       const std::string& network = "");

  // By rank 0 once it holds the run's folder: `config` is what every rank must have been started
  // with (same_options.h).
  void publish_config(const std::string& config);
  // By the other ranks: blocks until then, at most `timeout`. UsageError: `config` differs where it
  // must not. OtherRankFailed: rank 0 cannot go on. PeerLostError: rank 0 does not answer.
  void await_config(const std::string& config);

  // By all ranks after that, with what they read (input_facts.h) and the name of their device
  // (device_match.h; empty on all ranks: any device is accepted). Blocks until all have compared
  // these with rank 0's, at most 2 x `timeout`, so that no rank goes on to join while others leave.
  // UsageError: this rank's differ. OtherRankFailed: another rank cannot go on. PeerLostError: not
  // all ranks answer.
  void compare_inputs(const std::string& inputs, const std::string& device);

  // By all ranks at the end, after a point where all were together, with their data processes gone.
  // Rank 0 blocks until all have called, at most somewhat longer than `timeout`.
  void leave();

  // Call it at once when `error` ends this rank, before any connection to the others is broken.
  // Reports `error` to the others if it is this rank's own. From now on the process ends within a
  // limit, also if the store does not answer any more: 30 s or `timeout` + 15 s for an own error,
  // 2 x `timeout` + 15 s for that of another rank.
  void publish_failure(const Error& error);
  // Call it after publish_failure(), with the groups gone, because others may wait in a collective
  // that only this ends. Rank 0, which hosts the store, first waits for the others to read a
  // reported failure: some seconds or, before all have compared what they read, at most `timeout`.
  // If `error` is this rank's own, returns then. If it comes from another rank (PeerLostError,
  // OtherRankFailed), blocks until that rank has reported why, and throws that as an Error with its
  // exit code. If no rank reports, the heartbeat ends the process meanwhile, or this returns after
  // 2 x `timeout`.
  void await_cause(const Error& error);

 private:
  bool is_single_rank() const { return launch_.world == 1; }
  // Whether the key is there within the timeout.
  bool await(const char* key);
  // On the heartbeat's thread: finds out why the peer was lost, and has the process ended.
  void end_after(const Error& loss);
  std::chrono::milliseconds limit_of_end(const Error& error) const;
  std::optional<Failure> read_report();
  // By rank 0, which hosts the store.
  void serve_report(Store& store, const Failure& failure) const;
  void serve_report_alone(const Failure& failure) const;
  std::optional<Failure> await_heard(std::chrono::steady_clock::time_point ends);

  LaunchConfig launch_;
  std::chrono::milliseconds timeout_;
  Store store_;
  std::atomic<bool> compared_{false};  // all ranks have
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;           // publish_failure() was called
  std::optional<Failure> heard_;  // written by the heartbeat's thread
  ProcessEnd* end_ = nullptr;
  std::unique_ptr<Heartbeat> heartbeat_;
};

// By a rank of several that `error` ends before it has met the others: connects only to report it,
// so that they leave with its message and exit code instead of waiting for it. Blocks until that is
// done, at most `timeout`, or until a stop; logs a line if it takes long. The report of a stop
// takes 15 s at most, or until a second Ctrl-C. Throws no Error.
void report_early_failure(const LaunchConfig& launch, std::chrono::milliseconds timeout,
                          const Error& error);

}  // namespace odb
