#include "dist/store.h"

#include <thread>

#include "base/error.h"
#include "catch.h"
#include "dist/network.h"

using namespace odb;
using std::chrono::milliseconds;

TEST_CASE("what one connection writes, another reads") {
  Store host = Store::host({"127.0.0.1", 0});
  REQUIRE(host.address().port != 0);
  Store other = Store::connect(host.address(), milliseconds(10000));
  CHECK_FALSE(other.find("key"));
  host.set("key", "a value with \n and \0 bytes");
  CHECK(other.find("key") == host.find("key"));
  other.set("empty", "");
  CHECK(host.find("empty") == "");
}

TEST_CASE("an address survives being written and read, and other texts are none") {
  const StoreAddress address{"node17.cluster", 29500};
  CHECK(to_text(address) == "node17.cluster:29500");
  CHECK(parse_store_address(to_text(address)) == address);
  for (const char* text : {"", "node", ":29500", "node:", "node:0", "node:65536", "node:port"})
    CHECK_FALSE(parse_store_address(text));
}

TEST_CASE("of many who set a key once the first one's value stays") {
  Store store = Store::host({"127.0.0.1", 0});
  CHECK(store.set_once("winner", "a") == "a");
  CHECK(store.set_once("winner", "b") == "a");
  CHECK(store.find("winner") == "a");
}

TEST_CASE("a counter starts at zero") {
  Store store = Store::host({"127.0.0.1", 0});
  CHECK(store.add("count", 1) == 1);
  CHECK(store.add("count", 41) == 42);
}

TEST_CASE("a wait ends when the key comes, or with its limit, and the connection still works") {
  Store store = Store::host({"127.0.0.1", 0});
  CHECK_FALSE(store.wait_for("late", milliseconds(20)));
  std::thread writer([address = store.address()] {
    Store::connect(address, milliseconds(10000)).set("late", "here");
  });
  CHECK(store.wait_for("late", milliseconds(60000)));
  writer.join();
  CHECK(store.find("late") == "here");
}

TEST_CASE("a store that nobody hosts is a lost peer, named by its address") {
  StoreAddress address;
  { address = Store::host({"127.0.0.1", 0}).address(); }
  CHECK_THROWS_WITH(Store::connect(address, milliseconds(1000)),
                    Catch::Contains("was not reached in 1 s"));
}

TEST_CASE("a store whose host goes away is a lost peer") {
  auto host = std::make_unique<Store>(Store::host({"127.0.0.1", 0}));
  Store other = Store::connect(host->address(), milliseconds(10000));
  host.reset();
  CHECK_THROWS_WITH(other.find("key"), Catch::Contains("does not answer"));
}

TEST_CASE("a port that is taken is said so") {
  const Store first = Store::host({"127.0.0.1", 0});
  CHECK_THROWS_WITH(Store::host(first.address()), Catch::Contains("choose another port"));
}

TEST_CASE("the address towards this machine is loopback, a name without address is refused") {
  CHECK(local_address_towards({"127.0.0.1", 1}) == "127.0.0.1");
  CHECK_THROWS_WITH(local_address_towards({"no-such-host.invalid", 1}),
                    Catch::Contains("no-such-host.invalid"));
}
