// Liveness connections between processes: what ends one, and what does not.
#include "dist/liveness_connection.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <set>

#include "catch.h"
#include "dist/network.h"

using namespace odb;

namespace {

constexpr int kWorld = 8;
constexpr std::chrono::milliseconds kLimit{10000};

// Rank 0, and the ranks whose connections have ended.
struct Host {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<int> ended;
  LivenessListener lines{kWorld, "", [this](int rank) {
                           {
                             const std::lock_guard lock(mutex);
                             ended.insert(rank);
                           }
                           changed.notify_all();
                         }};

  LivenessAddress address(const std::string& name = "127.0.0.1") const {
    LivenessAddress address = lines.address();
    address.host = name;
    return address;
  }
  bool await_end(int rank) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, kLimit, [&] { return ended.contains(rank); });
  }
  std::set<int> ended_so_far() {
    const std::lock_guard lock(mutex);
    return ended;
  }
};

// A process that only holds the connection of `rank`, until it is ended; at the latest with this
// process.
pid_t start_rank(const LivenessAddress& address, int rank) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const auto line = LivenessConnection::connect(address, rank, kLimit);
    if (line) (void)!::write(ready[1], "x", 1);
    ::close(ready[1]);
    for (;;)
      ::pause();
  }
  ::close(ready[1]);
  char byte = 0;
  CHECK(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  return child;
}

int connect_as_stranger(std::uint16_t port) {
  const int stranger = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::connect(stranger, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  return stranger;
}

}  // namespace

TEST_CASE("the connection of a killed process ends, that of a stopped process does not") {
  Host host;
  const pid_t stopped = start_rank(host.address(), 1);
  const pid_t killed = start_rank(host.address(), 2);
  ::kill(stopped, SIGSTOP);
  int status = 0;
  REQUIRE(::waitpid(stopped, &status, WUNTRACED) == stopped);
  ::kill(killed, SIGKILL);
  CHECK(host.await_end(2));
  CHECK(host.ended_so_far() == std::set<int>{2});
  ::kill(stopped, SIGKILL);  // and now it has ended, too
  CHECK(host.await_end(1));
  ::waitpid(stopped, nullptr, 0);
  ::waitpid(killed, nullptr, 0);
}

TEST_CASE("connections that are not from a rank are ignored: silent, with other bytes, or reset") {
  Host host;
  ::close(connect_as_stranger(host.lines.address().port));
  const int talkative = connect_as_stranger(host.lines.address().port);
  CHECK(::send(talkative, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL) == 18);
  ::close(talkative);
  const int resets = connect_as_stranger(host.lines.address().port);
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(resets, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  ::close(resets);
  { const auto line = LivenessConnection::connect(host.address("localhost"), 5, kLimit); }
  CHECK(host.await_end(5));  // all before it have been handled
  CHECK(host.ended_so_far() == std::set<int>{5});
}

TEST_CASE("bytes on a connection mean nothing, its end does") {
  Host host;
  {
    const auto line = LivenessConnection::connect(host.address("127.0.0.1"), 3, kLimit);
    REQUIRE(line.has_value());
    for (int beat = 0; beat < 1000; ++beat)
      line->keep_alive();
    CHECK(host.ended_so_far().empty());
  }
  CHECK(host.await_end(3));
}

TEST_CASE("the end of a rank outside the world is ignored") {
  Host host;
  for (const int rank : {-1, 0, kWorld, kWorld + 1})
    CHECK(LivenessConnection::connect(host.address("127.0.0.1"), rank, kLimit).has_value());
  { const auto line = LivenessConnection::connect(host.address("127.0.0.1"), kWorld - 1, kLimit); }
  CHECK(host.await_end(kWorld - 1));  // all before it have been handled
  CHECK(host.ended_so_far() == std::set<int>{kWorld - 1});
}

TEST_CASE("a rank of another run is ignored") {
  Host host;
  LivenessAddress other = host.address();
  other.nonce[1] ^= 1;
  { const auto line = LivenessConnection::connect(other, 2, kLimit); }
  { const auto line = LivenessConnection::connect(host.address(), 6, kLimit); }
  CHECK(host.await_end(6));
  CHECK(host.ended_so_far() == std::set<int>{6});
  const LivenessListener second(2, "", [](int) {});
  CHECK(second.address().nonce != host.lines.address().nonce);
}

TEST_CASE("rank 0 listens on the chosen network alone") {
  const LivenessListener lines(2, "127.0.0.2", [](int) {});
  LivenessAddress address = lines.address();
  CHECK(address.host == "127.0.0.2");
  CHECK(LivenessConnection::connect(address, 1, kLimit).has_value());
  address.host = "127.0.0.1";
  CHECK_FALSE(LivenessConnection::connect(address, 1, kLimit).has_value());
  CHECK(address_of_network("lo") == "127.0.0.1");
  CHECK(address_of_network("10.0.0.5") == "10.0.0.5");
  CHECK_THROWS_WITH(LivenessListener(2, "192.0.2.7", [](int) {}),
                    Catch::StartsWith("--network 192.0.2.7: Cannot assign requested address"));
}

TEST_CASE("the address of the listener travels as text") {
  const LivenessAddress address{.host = "fe80::1", .port = 7, .nonce = {1, 0xabc0000000000000u}};
  CHECK(parse_liveness_address(to_text(address)) == address);
  const LivenessAddress anywhere{.host = "", .port = 65535, .nonce = {0, ~std::uint64_t{0}}};
  CHECK(parse_liveness_address(to_text(anywhere)) == anywhere);
  for (const char* text : {"", "none", "12 7", "0123456789abcdef0123456789abcdeg 7 a",
                           "0123456789abcdef0123456789abcdef 70000 a"})
    CHECK_FALSE(parse_liveness_address(text));
}

TEST_CASE("without a listener there is no connection") {
  LivenessAddress address;
  {
    const LivenessListener lines(2, "", [](int) {});
    address = lines.address();
  }
  address.host = "127.0.0.1";
  CHECK_FALSE(LivenessConnection::connect(address, 1, std::chrono::milliseconds(500)));
}
