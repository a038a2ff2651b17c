// How the ranks of a run find each other, tell each other why one cannot go on, and leave.
//
//   RunMeeting(...)             all know the store
//   start_heartbeat(...)        a rank that falls silent is found from now on
//   open(...) / await_open(...) rank 0 has the run's folder; all have the same options
//   compare(...)                all read the same
//   ... the groups are made over the store, and the run takes place ...
//   leave()                     in peace: rank 0's store stays until nobody needs it
//   tell(error), settle(error)  otherwise: all leave for one reason, and know it
//   tell_before_meeting(error)  instead of all that: this rank failed before it could come
//
// Until all ranks have compared what they read, a stop ends what waits for others (early_stop.h).
//
// A rank that fails by itself, wherever the others are: tells why on the board of failures
// (failure_board.h), breaks its connections, and ends without having left in peace. Whoever finds a
// connection broken reads the board. Whoever does not, for a collective on a GPU only hangs then,
// is ended by its heartbeat, which takes the rank for lost and reads the board, too.
//
// A run of one rank has a store, for its data processes, and nobody to wait for.
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
#include "train/failure_board.h"
#include "train/launch_place.h"

namespace odb {

class RunMeeting {
 public:
  // Hosts the store as rank 0, else connects to it: blocks until it is there, at most `timeout`
  // (`--timeout`). PeerLostError: nobody hosts it. UsageError: the port is taken. StoppedEarly.
  RunMeeting(const LaunchPlace& place, std::chrono::milliseconds timeout);
  RunMeeting(const RunMeeting&) = delete;
  RunMeeting& operator=(const RunMeeting&) = delete;
  // Without leave() before, the others take this rank for lost.
  ~RunMeeting();

  Store& store() { return store_; }

  // From now on a peer that is lost ends this process, with the exit code and the words of the rank
  // that failed where one told them; and this rank tells that it lives (rank_heartbeat.h). Where
  // this rank is about to end anyway, by tell(), that is left to go on. `phase` and `before_end`
  // are called on another thread; `phase` must not block. Nothing where the rank is alone.
  // PeerLostError.
  void start_heartbeat(std::function<std::string()> phase,
                       std::function<void(const LostPeer&)> before_end);

  // By rank 0 once the run's folder is its own: `config` is what every rank is to have been started
  // with (same_options.h).
  void open(const std::string& config);
  // By the other ranks: blocks until then, at most `timeout`. UsageError: `config` differs where it
  // must not. OtherRankFailed: rank 0 cannot go on. PeerLostError: it does not say.
  void await_open(const std::string& config);

  // By all ranks after that, with what they read (input_facts.h) and the name of their device
  // (device_match.h; empty on all ranks: any will do): blocks until all have compared these with
  // rank 0's, at most `timeout` twice; for one that went on to join would wait for those that
  // leave. UsageError: this rank's differ. OtherRankFailed: another rank cannot go on.
  // PeerLostError: not all say so.
  void compare(const std::string& inputs, const std::string& device);

  // By all ranks at the end, past a point where all were together and with their data processes
  // gone. Rank 0 blocks until all have called, somewhat longer than `timeout` at most.
  void leave();

  // At once when `error` is to end this rank, before any connection to the others is broken: one of
  // its own is told to them.
  void tell(const Error& error);
  // After that, with the groups gone: others may wait in a collective that only this ends. With a
  // failure that was told, rank 0, where the store is, waits for the others to read it: some
  // seconds, or, before all have compared what they read, at most `timeout`. Returns then if
  // `error` is this rank's own. Where it comes from another rank's end (PeerLostError,
  // OtherRankFailed), blocks until that one has told why, and throws this as an Error with its exit
  // code in place of `error`; when nothing is told the heartbeat ends the process meanwhile, or
  // this returns after twice `timeout`.
  void settle(const Error& error);

 private:
  bool alone() const { return place_.world == 1; }
  // Whether the key is there within the timeout.
  bool await(const char* key);
  // On the heartbeat's thread: see EndOfProcess. Waits for tell(), a little.
  std::optional<Error> end_of_process(const Error& loss);
  std::optional<RankFailure> look_at_board();
  // By rank 0, which hosts it.
  void keep_board(Store& store, ExitCode code) const;
  void keep_own_board(ExitCode code) const;
  std::optional<RankFailure> await_heard(std::chrono::steady_clock::time_point ends);

  // Whether the thread that called tell() ends the process.
  enum class Ending : std::uint8_t {
    no,
    for_another,  // and what with is for another rank to tell
    known
  };

  LaunchPlace place_;
  std::chrono::milliseconds timeout_;
  Store store_;
  std::atomic<bool> compared_{false};  // all have
  std::mutex mutex_;
  std::condition_variable changed_;
  Ending ending_ = Ending::no;
  std::optional<RankFailure> heard_;  // by the heartbeat's thread
  std::unique_ptr<Heartbeat> heartbeat_;
};

// By a rank of several that `error` ends before it has met the others: comes to the meeting for no
// more than to tell them, so that they leave with its words and exit code instead of waiting for
// it. Blocks until it has, at most `timeout`, or a stop comes; where that takes long, the log is
// told. Throws no Error.
void tell_before_meeting(const LaunchPlace& place, std::chrono::milliseconds timeout,
                         const Error& error);

}  // namespace odb
