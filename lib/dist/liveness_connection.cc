#include "dist/liveness_connection.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <future>
#include <random>
#include <sstream>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "base/start_thread.h"
#include "dist/network.h"

namespace odb {
namespace {

using Clock = std::chrono::steady_clock;

// The first message: the run's nonce and the sender's rank. A peer that sends something else is not
// a rank of this run. What follows is ignored.
struct Hello {
  Nonce nonce{};
  std::int64_t rank = -1;
};
static_assert(std::is_trivially_copyable_v<Hello>);

Nonce random_nonce() {
  Nonce nonce;
  std::random_device random;
  for (std::uint64_t& word : nonce)
    word = (static_cast<std::uint64_t>(random()) << 32) | random();
  return nonce;
}

// A rank sends it as soon as it is connected; a connection without it is closed after this time.
constexpr std::chrono::seconds kMaxSilence{60};

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
  Listener(int world, const std::string& host, std::function<void(int)> on_ended)
      : world_(world),
        on_ended_(std::move(on_ended)),
        address_{.host = host, .port = 0, .nonce = random_nonce()},
        socket_(listen_on(host)),
        end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    address_.port = port_of(socket_.get());
    ODB_CHECK(end_.get() >= 0, "no eventfd to end the thread: {}", errno_text(errno));
    thread_ = start_thread([this] { listen(); });
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    const std::uint64_t one = 1;
    (void)!::write(end_.get(), &one, sizeof(one));
    thread_.join();
  }

  const LivenessAddress& address() const { return address_; }

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
    return hello.nonce == address_.nonce && hello.rank > 0 && hello.rank < world_;
  }

  int world_;
  std::function<void(int)> on_ended_;
  LivenessAddress address_;
  Descriptor socket_;
  Descriptor end_;
  std::vector<Line> lines_;
  std::thread thread_;
};

std::string to_text(const LivenessAddress& address) {
  return fmt::format("{:016x}{:016x} {} {}", address.nonce[0], address.nonce[1], address.port,
                     address.host);
}

std::optional<LivenessAddress> parse_liveness_address(const std::string& text) {
  LivenessAddress address;
  std::istringstream words(text);
  std::string nonce;
  if (!(words >> nonce >> address.port) || nonce.size() != 32) return std::nullopt;
  words >> address.host;  // may be empty
  for (std::size_t half = 0; half < 2; ++half) {
    const char* const digits = nonce.data() + 16 * half;
    const auto end = std::from_chars(digits, digits + 16, address.nonce[half], 16);
    if (end.ptr != digits + 16) return std::nullopt;
  }
  return address;
}

LivenessListener::LivenessListener(int world, const std::string& host,
                                   std::function<void(int rank)> on_ended)
    : listener_(std::make_unique<Listener>(world, host, std::move(on_ended))) {}
const LivenessAddress& LivenessListener::address() const {
  return listener_->address();
}
LivenessListener::~LivenessListener() = default;

// A thread connects; when it is too late, it keeps its socket and this returns without it. The
// thread sends no rank: once a rank is sent, the end of the connection means the end of that rank.
std::optional<LivenessConnection> LivenessConnection::connect(const LivenessAddress& address,
                                                              int rank,
                                                              std::chrono::milliseconds limit) {
  std::promise<Descriptor> connecting;
  std::future<Descriptor> connected = connecting.get_future();
  try {
    start_thread([connecting = std::move(connecting), address, limit]() mutable {
      connecting.set_value(connect_to(address.host, address.port, limit));
    }).detach();
  } catch (const FileError&) {  // the system has no thread left
    return std::nullopt;
  }
  if (connected.wait_for(limit) != std::future_status::ready) return std::nullopt;
  LivenessConnection line(connected.get());
  const Hello hello{.nonce = address.nonce, .rank = rank};
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
