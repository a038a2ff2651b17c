// The generations of the side group (batching/peers.h) over a store and Gloo.
//
// Keys, below a prefix that belongs to one run of one set of processes:
//   generation/G        set once by whichever process declares generation G - 1 dead; 0 needs none
//   gen/G/              Gloo's addresses of generation G
//   gen/G/joined        counts the ranks that have published theirs
//   gen/G/complete      set by the last of them
//   network/R           where rank R listens, for messages
// A thread waits at the store for the next generation's key, so every rank learns of a death at
// once. When the key is set, a reduction or join in progress ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "batching/peers.h"
#include "dist/gloo_group.h"
#include "dist/store.h"

namespace odb {

struct GlooMembershipOptions {
  HostPort store;
  std::string prefix;   // of the run, "run/3/"
  std::string network;  // see GlooGroupOptions; empty: the address towards the store
  int rank = 0;
  int world = 1;
  std::chrono::milliseconds connect_timeout{300000};  // to the store
  std::chrono::milliseconds connect_limit{0};         // see GlooGroupOptions
};

// Errors of all calls: PeerLostError when the store's host is gone. UsageError of join() when this
// rank could not connect to a peer in kMaxUnconnected generations in a row. Starts a thread; make
// it in the collate process itself, after the fork.
class GlooMembership final : public Membership {
 public:
  static constexpr int kMaxUnconnected = 10;

  // Connects to the store. PeerLostError after connect_timeout; UsageError: no such network.
  explicit GlooMembership(GlooMembershipOptions options);
  GlooMembership(const GlooMembership&) = delete;
  GlooMembership& operator=(const GlooMembership&) = delete;
  ~GlooMembership() override;

  std::int64_t generation() override;
  bool advance(std::int64_t from) override;
  std::unique_ptr<Peers> join(std::int64_t generation) override;

 private:
  class Group;

  std::string generation_key(std::int64_t generation) const;
  std::string group_prefix(std::int64_t generation) const;
  std::string network_key(int rank) const;
  void watch();                       // the thread
  void saw(std::int64_t generation);  // it exists: ends reductions and joins of older ones
  void attach(Group* group);          // the group that a newer generation interrupts; null: none
  bool connect(Group& group);         // false: not connected; throws after too many
  void check_store() const;           // throws when the thread has lost the store

  GlooMembershipOptions options_;
  Store store_;
  Store watched_;  // the thread's own connection
  std::atomic<std::int64_t> generation_{0};
  std::mutex mutex_;
  Group* group_ = nullptr;
  std::string store_fault_;  // mutex_ held; empty: none
  std::atomic<bool> store_lost_ = false;
  std::atomic<bool> stop_ = false;
  int unconnected_ = 0;  // generations in a row in which a peer was not reached
  std::thread watcher_;
};

// What a collate process calls with the store's address from the trainer ("host:port") to get a
// GlooMembership. The caller leaves `options.store` unset. InternalError: the text is not an
// address.
std::function<std::unique_ptr<Membership>(const std::string& store_address)> membership_over_gloo(
    GlooMembershipOptions options);

}  // namespace odb
