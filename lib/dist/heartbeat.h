// Finds lost ranks. Each trainer publishes a beat with its phase in the store, from a thread of its
// own, so a busy rank beats as well. Rank 0 watches all others, all others watch rank 0: the
// store's load grows with W, not with its square.
//
//   a rank's process ends    its liveness connection to rank 0 closes: lost at once; without such
//                            a connection (liveness_connection.h), after the timeout
//   a rank is stopped        its beats stop (SIGSTOP): lost after the timeout
//   rank 0's process ends    the store ends with it, and its calls fail
//   rank 0 is stopped        calls of the store do not return, which a second thread notices
//
// Rank 0 publishes the rank that it finds lost and waits until all others have read that, up to
// half the timeout. All threads block the stop signals.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "dist/liveness_connection.h"
#include "dist/peer_liveness.h"
#include "dist/store.h"

namespace odb {

struct HeartbeatOptions {
  HostPort store;
  std::string listen_on;  // rank 0: the address for liveness connections; empty: all
  std::string prefix;     // of its keys: those of one run of one set of processes
  int rank = 0;
  int world = 1;
  std::chrono::milliseconds timeout{300000};  // `--timeout`
  std::function<std::string()> phase;         // asked on the heartbeat's thread: must not block
};

// The argument of on_lost as a sentence for the user.
std::string describe_lost(const LostPeer& peer, const HostPort& store);

// Publishes that the peer is lost: at their next beat, ranks other than 0 with this prefix find it
// lost. PeerLostError.
void publish_lost(Store& store, const std::string& prefix, const LostPeer& peer);

class Heartbeat {
 public:
  // Starts beating. `on_lost` is called once, on a thread of the heartbeat; in a trainer it prints
  // and ends the process with exit code 5. PeerLostError: the store was not reached in `timeout`.
  Heartbeat(HeartbeatOptions options, std::function<void(const LostPeer&)> on_lost);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Stops. The others then take this rank for lost, as if its process had ended, unless leave() was
  // called.
  ~Heartbeat();

  // Another thread of this process has found a connection broken: looks for the reason twice a
  // second from now on, the first time at once. Never blocks.
  void hurry();

  // Publishes that this rank leaves cleanly. No beat follows. Blocks until the store has answered;
  // if it does not, rank 0 is lost.
  void leave();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr bool kNever = false;

  void beat();           // a thread: publishes, reads, judges
  void guard();          // a thread: judges whether the store answers
  void set(bool& word);  // to true, under the lock
  bool needs_connection() const;
  void connect_to_rank_0();  // connects this rank, once rank 0 has published its port
  void saw_end(int rank);
  void publish(const Beat& beat);
  std::vector<std::optional<Beat>> read(const std::vector<int>& ranks);
  void await_readers(int lost, const std::vector<std::optional<Beat>>& beats);
  std::optional<LostPeer> look(PeerLiveness& watch, const std::vector<int>& watched);
  void lose(const LostPeer& peer);
  std::chrono::milliseconds until_next_beat();
  // Waits for `time`, or until `ended` or `cut_short` holds, which are checked under the lock;
  // false when `ended` does.
  template <typename Ended>
  bool pause(std::chrono::milliseconds time, Ended ended, const bool& cut_short = kNever);

  HeartbeatOptions options_;
  std::function<void(const LostPeer&)> on_lost_;
  std::chrono::milliseconds period_;
  Store store_;
  Clock::time_point last_look_ = Clock::now();
  Beat host_;  // rank 0's last
  std::mutex mutex_;
  std::condition_variable changed_;  // one of these:
  bool stop_ = false;
  bool leaving_ = false;  // no beat follows
  bool left_ = false;     // and that is published
  bool reported_ = false;
  std::int64_t looks_ = 0;  // finished by beat()
  long count_ = 0;
  std::set<int> ended_;  // on rank 0: the ranks whose processes have ended
  bool news_ = false;    // one of them has not been handled yet, or hurry() was called
  bool hurried_ = false;
  int connection_tries_ = 0;
  std::optional<LivenessConnection> connection_;  // to rank 0
  std::unique_ptr<LivenessListener> listener_;    // rank 0's
  std::thread beating_;
  std::thread guarding_;
};

}  // namespace odb
