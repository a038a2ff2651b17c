// Heartbeats between threads. That a killed or stopped process is found is tested with processes.
#include "dist/heartbeat.h"

#include <future>

#include "base/error.h"
#include "catch.h"

using namespace odb;
using std::chrono::milliseconds;

namespace {

struct Watcher {
  std::promise<LostPeer> lost;
  std::unique_ptr<Heartbeat> heartbeat;
};

void start(Watcher& watcher, const HostPort& store, int rank, int world, milliseconds timeout,
           const std::string& phase = "waiting") {
  watcher.heartbeat = std::make_unique<Heartbeat>(
      HeartbeatOptions{.store = store,
                       .prefix = "run/",
                       .rank = rank,
                       .world = world,
                       .timeout = timeout,
                       .phase = [phase] { return phase; }},
      [&watcher](const LostPeer& peer) { watcher.lost.set_value(peer); });
}

}  // namespace

TEST_CASE("a rank that ends is named by all others at once, with its last phase") {
  const Store store = Store::host({"127.0.0.1", 0});
  Watcher watchers[3];
  const milliseconds timeout(20000);
  start(watchers[0], store.address(), 0, 3, timeout);
  start(watchers[1], store.address(), 1, 3, timeout);
  start(watchers[2], store.address(), 2, 3, timeout, "in round 7");
  while (!Store::connect(store.address(), milliseconds(10000)).find("run/beat/2"))
    std::this_thread::yield();
  watchers[2].heartbeat.reset();
  for (int rank : {0, 1}) {
    const LostPeer lost = watchers[rank].lost.get_future().get();
    CHECK(lost.rank == 2);
    CHECK(lost.phase == "in round 7");
    CHECK(lost.ended);
  }
}

TEST_CASE("a rank that leaves cleanly is not lost") {
  const Store store = Store::host({"127.0.0.1", 0});
  Watcher stays, leaves, silent;
  start(stays, store.address(), 0, 3, milliseconds(300));
  start(leaves, store.address(), 1, 3, milliseconds(300));
  start(silent, store.address(), 2, 3, milliseconds(300));
  leaves.heartbeat->leave();
  leaves.heartbeat.reset();
  silent.heartbeat.reset();  // later than the other, and yet this one is named
  CHECK(stays.lost.get_future().get().rank == 2);
}

TEST_CASE("a rank that is busy for longer than the timeout is not lost") {
  const Store store = Store::host({"127.0.0.1", 0});
  Watcher watchers[2];
  for (int rank : {0, 1})
    start(watchers[rank], store.address(), rank, 2, milliseconds(2000), "busy");
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t work = 0;
  while (std::chrono::steady_clock::now() - begin < milliseconds(5000))
    work = work * 6364136223846793005u + 1;
  INFO(work);
  for (Watcher& watcher : watchers)
    CHECK(watcher.lost.get_future().wait_for(milliseconds(0)) == std::future_status::timeout);
  for (Watcher& watcher : watchers)
    watcher.heartbeat->leave();
}

TEST_CASE(
    "when several ranks end at once, the others do not wait for them to read which rank is lost") {
  const Store store = Store::host({"127.0.0.1", 0});
  const milliseconds timeout(600000);
  Watcher stays;
  start(stays, store.address(), 0, 4, timeout);
  {
    Watcher ends[3];
    for (int rank : {1, 2, 3})
      start(ends[rank - 1], store.address(), rank, 4, timeout);
    Store asking = Store::connect(store.address(), milliseconds(10000));
    for (const char* key : {"run/beat/1", "run/beat/2", "run/beat/3"})
      while (!asking.find(key))
        std::this_thread::yield();
  }
  CHECK(stays.lost.get_future().get().ended);
}

TEST_CASE("the end of the store is the loss of rank 0") {
  auto store = std::make_unique<Store>(Store::host({"127.0.0.1", 0}));
  Watcher watcher;
  start(watcher, store->address(), 1, 2, milliseconds(60000));
  store.reset();
  const LostPeer lost = watcher.lost.get_future().get();
  CHECK(lost.rank == 0);
  CHECK(lost.ended);
}

TEST_CASE("a lost rank is described with what to do") {
  CHECK(describe_lost({.rank = 3, .phase = "in round 8", .silence = milliseconds(5012)},
                      {"node1", 29500}) ==
        "rank 3 is lost: no sign of life for 5.0 s; it was last in round 8; see its own log");
  CHECK(describe_lost({.rank = 3, .phase = "in round 8", .ended = true}, {"node1", 29500}) ==
        "rank 3 is lost: its process ended; it was last in round 8; see its own log");
  CHECK(describe_lost({.rank = 0, .phase = "", .ended = true}, {"node1", 29500}) ==
        "rank 0 is lost: its process ended and with it the store at node1:29500; it was last "
        "starting; see its own log");
  CHECK(describe_lost({.rank = 3, .phase = "", .silence = milliseconds(5000)}, {"node1", 29500})
            .find("rank 3 did not start within 5.0 s") == 0);
}
