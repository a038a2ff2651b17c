#include "dist/liveness_connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/signals.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

// The first message: the sender's rank. A peer that sends something else is not a rank. What
// follows is ignored.
struct Hello {
  std::uint64_t word = 0;
  std::int64_t rank = -1;
};
static_assert(std::is_trivially_copyable_v<Hello>);
constexpr std::uint64_t kWord = 0x6f64622d6c696e65;  // "odb-line"
// A rank sends it as soon as it is connected; a connection without it is closed after this time.
constexpr std::chrono::seconds kMaxSilence{60};

// Listens on all addresses, of IPv6 as well where the machine has it.
Descriptor listen_anywhere() {
  Descriptor socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() >= 0) {
    const int no = 0;
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
    sockaddr_in6 any = {};
    any.sin6_family = AF_INET6;
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&any), sizeof(any)) == 0 &&
        ::listen(socket.get(), SOMAXCONN) == 0)
      return socket;
  }
  socket = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  ODB_CHECK(socket.get() >= 0 &&
                ::bind(socket.get(), reinterpret_cast<sockaddr*>(&any), sizeof(any)) == 0 &&
                ::listen(socket.get(), SOMAXCONN) == 0,
            "no socket to listen on: {}", errno_text(errno));
  return socket;
}

std::uint16_t port_of(int socket) {
  sockaddr_storage local = {};
  socklen_t size = sizeof(local);
  ODB_CHECK(::getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size) == 0, "{}",
            errno_text(errno));
  return ntohs(local.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(local).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(local).sin_port);
}

// Connected within `limit`, or -1.
Descriptor connect_to(const addrinfo& address, std::chrono::milliseconds limit) {
  Descriptor socket(
      ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP));
  if (socket.get() < 0) return socket;
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return Descriptor(-1);
  pollfd waiting{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  int fault = ETIMEDOUT;
  socklen_t size = sizeof(fault);
  if (::poll(&waiting, 1, static_cast<int>(limit.count())) == 1)
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &fault, &size);
  return fault == 0 ? std::move(socket) : Descriptor(-1);
}

// Connects to the first address of `host` that answers; not open: none does. A name server may
// block it for longer than `limit`.
Descriptor connect_to(const std::string& host, std::uint16_t port,
                      std::chrono::milliseconds limit) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  int addresses = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next)
    ++addresses;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next)
    if (Descriptor socket = connect_to(*address, limit / addresses); socket.open()) return socket;
  return {};
}

}  // namespace

// The thread and its connections.
class LivenessListener::Listener {
 public:
  Listener(int world, std::function<void(int)> on_ended)
      : world_(world),
        on_ended_(std::move(on_ended)),
        socket_(listen_anywhere()),
        end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    ODB_CHECK(end_.get() >= 0, "no eventfd to end the thread: {}", errno_text(errno));
    const ScopedSignalBlock block;
    thread_ = std::thread([this] { listen(); });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    const std::uint64_t one = 1;
    (void)!::write(end_.get(), &one, sizeof(one));
    thread_.join();
  }

  std::uint16_t port() const { return port_of(socket_.get()); }

 private:
  struct Line {
    Descriptor socket;
    Clock::time_point since;
    std::size_t heard = 0;  // bytes of its hello
    Hello hello;

    bool known() const { return heard == sizeof(Hello); }
  };
  enum class Heard { nothing, rank_ended, no_line };

  void listen() {
    for (;;) {
      std::vector<pollfd> looks = {{.fd = end_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = socket_.get(), .events = POLLIN, .revents = 0}};
      for (const Line& line : lines_)
        looks.push_back({.fd = line.socket.get(), .events = POLLIN, .revents = 0});
      if (::poll(looks.data(), looks.size(), -1) < 0) continue;
      if (looks[0].revents != 0) return;
      for (std::size_t i = lines_.size(); i-- > 0;)
        if (looks[i + 2].revents != 0) look(i);
      if (looks[1].revents != 0) accept();
    }
  }

  void accept() {
    const Clock::time_point now = Clock::now();
    std::erase_if(lines_, [now](const Line& line) {
      return !line.known() && now - line.since > kMaxSilence;
    });
    Descriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() >= 0)
      lines_.push_back({.socket = std::move(socket), .since = now, .heard = 0, .hello = {}});
    else if (errno == EMFILE || errno == ENFILE)  // the connection stays in the backlog
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }

  void look(std::size_t number) {
    const Heard heard = hear(lines_[number]);
    if (heard == Heard::nothing) return;
    const auto rank = static_cast<int>(lines_[number].hello.rank);
    lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(number));
    if (heard == Heard::rank_ended) on_ended_(rank);
  }

  Heard hear(Line& line) const {
    char* into = reinterpret_cast<char*>(&line.hello) + line.heard;
    char more[64];
    const bool known = line.known();
    const ssize_t count = known ? ::recv(line.socket.get(), more, sizeof(more), 0)
                                : ::recv(line.socket.get(), into, sizeof(Hello) - line.heard, 0);
    if (count == 0) return known ? Heard::rank_ended : Heard::no_line;
    if (count < 0)
      return errno == EAGAIN || errno == EINTR ? Heard::nothing : Heard::no_line;  // reset
    if (known) return Heard::nothing;
    line.heard += static_cast<std::size_t>(count);
    return line.known() && !is_of_rank(line.hello) ? Heard::no_line : Heard::nothing;
  }

  bool is_of_rank(const Hello& hello) const {
    return hello.word == kWord && hello.rank > 0 && hello.rank < world_;
  }

  int world_;
  std::function<void(int)> on_ended_;
  Descriptor socket_;
  Descriptor end_;
  std::vector<Line> lines_;
  std::thread thread_;
};

LivenessListener::LivenessListener(int world, std::function<void(int rank)> on_ended)
    : listener_(std::make_unique<Listener>(world, std::move(on_ended))), port_(listener_->port()) {}
LivenessListener::~LivenessListener() = default;

// A thread connects; when it is too late, it keeps its socket and this returns without it. The
// thread sends no rank: once a rank is sent, the end of the connection means the end of that rank.
std::optional<LivenessConnection> LivenessConnection::connect(const std::string& host,
                                                              std::uint16_t port, int rank,
                                                              std::chrono::milliseconds limit) {
  std::promise<Descriptor> connecting;
  std::future<Descriptor> connected = connecting.get_future();
  try {
    const ScopedSignalBlock block;
    std::thread([connecting = std::move(connecting), host, port, limit]() mutable {
      connecting.set_value(connect_to(host, port, limit));
    }).detach();
  } catch (const std::system_error&) {  // the system has no thread left
    return std::nullopt;
  }
  if (connected.wait_for(limit) != std::future_status::ready) return std::nullopt;
  LivenessConnection line(connected.get());
  const Hello hello{.word = kWord, .rank = rank};
  // The buffer of a new connection has room for this.
  if (!line.socket_.open() || ::send(line.socket_.get(), &hello, sizeof(hello), MSG_NOSIGNAL) !=
                                  static_cast<ssize_t>(sizeof(hello)))
    return std::nullopt;
  return std::optional<LivenessConnection>(std::move(line));
}

void LivenessConnection::keep_alive() const {
  const char byte = 0;
  (void)!::send(socket_.get(), &byte, sizeof(byte), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace odb
