// Tells the other ranks that this one lives, and finds the one that does not.
//
// Each trainer publishes a beat with its phase in the store. Rank 0 watches all others, all others
// watch rank 0, so the store's load grows with W, not with its square; the rank that rank 0 finds
// lost is published, and read by all before rank 0 leaves (it waits for that, up to half the
// timeout). A rank that is busy elsewhere beats on, since a thread does it; one that was stopped
// (SIGSTOP) falls silent and is lost after the timeout. Where the system tells rank 0 that a rank's
// process has ended (life_line.h), no silence is waited for; where rank 0 cannot listen for that,
// silence finds those ranks, too. Rank 0 hosts the store: when it is stopped, the store's calls do
// not return, which a second thread notices. All threads block the stop signals.
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

#include "dist/life_line.h"
#include "dist/silence.h"
#include "dist/store.h"

namespace odb {

struct HeartbeatOptions {
  StoreAddress store;
  std::string prefix;  // of its keys: those of one run of one set of processes
  int rank = 0;
  int world = 1;
  std::chrono::milliseconds timeout{300000};  // `--timeout`
  std::function<std::string()> phase;         // asked on the heartbeat's thread: must not block
};

// What on_lost is told, as a sentence for the user.
std::string describe_lost(const LostPeer& peer, const StoreAddress& store);

// Publishes that the peer is lost: ranks other than 0 with this prefix take it so at their next
// beat. PeerLostError.
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

  // Publishes that this rank ends in peace. No beat follows. Blocks until the store has answered;
  // one that does not is the loss of rank 0.
  void leave();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr bool kNever = false;

  void beat();           // a thread: publishes, reads, judges
  void guard();          // a thread: judges whether the store answers
  void set(bool& word);  // true, under the lock
  bool wants_line() const;
  void take_line();  // a rank's own, once rank 0 has told where
  void saw_end(int rank);
  void publish(const Beat& beat);
  std::vector<std::optional<Beat>> read(const std::vector<int>& ranks);
  void await_readers(int lost, const std::vector<std::optional<Beat>>& beats);
  std::optional<LostPeer> look(SilenceWatch& watch, const std::vector<int>& watched);
  void lose(const LostPeer& peer);
  std::chrono::milliseconds until_next_beat() const;
  // Waits for `time`, or until `ended` or `cut_short` holds, which are looked at under the lock;
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
  bool told_ = false;
  std::int64_t looks_ = 0;  // finished by beat()
  long count_ = 0;
  std::set<int> ended_;  // ranks whose processes have; of rank 0
  bool news_ = false;    // one of them is not looked at yet
  int line_tries_ = 0;
  std::optional<LifeLine> line_;      // to rank 0
  std::unique_ptr<LifeLines> lines_;  // rank 0's
  std::thread beating_;
  std::thread guarding_;
};

}  // namespace odb
