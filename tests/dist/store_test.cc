#include "dist/store.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/error.h"
#include "catch.h"
#include "dist/network.h"
#include "listening_port.h"

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

TEST_CASE("a host may have as many connections as its system lets it") {
  rlimit limit = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlimit fewer{.rlim_cur = limit.rlim_max / 2, .rlim_max = limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &fewer) == 0);
  const Store host = Store::host({"127.0.0.1", 0});
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(limit.rlim_cur == limit.rlim_max);
}

TEST_CASE("of many connections that set a key once the first one's value stays") {
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
  HostPort address;
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

TEST_CASE("a port that is taken is reported as such") {
  const Store first = Store::host({"127.0.0.1", 0});
  CHECK_THROWS_WITH(Store::host(first.address()), Catch::Contains("choose another port"));
}

TEST_CASE("the address towards this machine is loopback, a name without address is refused") {
  CHECK(local_address_towards({"127.0.0.1", 1}) == "127.0.0.1");
  CHECK_THROWS_WITH(local_address_towards({"no-such-host.invalid", 1}),
                    Catch::Contains("no-such-host.invalid"));
}

TEST_CASE("a store asks no name server: peers are named by their numeric address") {
  const Store store = Store::host({"127.0.0.1", 0});
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);  // "localhost" in every file of hosts
  char host[NI_MAXHOST];
  REQUIRE(::getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof(address), host,
                        sizeof(host), nullptr, 0, 0) == 0);
  CHECK(host == std::string("127.0.0.1"));
}

TEST_CASE("a store is hosted on a socket that listens already, where others have connected") {
  const ListeningPort socket;
  std::thread early([&] {  // perhaps before the store exists
    Store::connect({"127.0.0.1", socket.port}, milliseconds(60000)).set("early", "here");
  });
  Store store = Store::host({"127.0.0.1", 0}, socket.descriptor);
  CHECK(store.address() == HostPort{"127.0.0.1", socket.port});
  CHECK(store.wait_for("early", milliseconds(60000)));
  early.join();
}

TEST_CASE("a descriptor that is not a listening socket, or one on another port, is refused") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  CHECK_THROWS_WITH(Store::host({"127.0.0.1", 0}, ends[0]),
                    Catch::Contains("no TCP socket that listens"));
  ::close(ends[1]);
  const ListeningPort socket;
  CHECK_THROWS_WITH(
      Store::host({"127.0.0.1", static_cast<std::uint16_t>(socket.port ^ 1)}, socket.descriptor),
      Catch::Contains("was given a socket on port"));
}

TEST_CASE("a host that accepts a connection and never answers is given up after the limit") {
  const ListeningPort socket;
  CHECK_THROWS_WITH(Store::connect({"127.0.0.1", socket.port}, milliseconds(500)),
                    Catch::Contains("was not reached in 0.5 s: no answer"));
  ::close(socket.descriptor);  // ends the thread that still waits
}

TEST_CASE("a process with a store survives a write to a peer that has died") {
  const Store store = Store::host({"127.0.0.1", 0});
  struct sigaction found = {};
  REQUIRE(::sigaction(SIGPIPE, nullptr, &found) == 0);
  CHECK(found.sa_handler == SIG_IGN);
}
