#include "dist/network.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>

#include "base/descriptor.h"
#include "base/error.h"

namespace odb {
namespace {

// The local address of a datagram socket that is connected to `remote`; empty: no route.
std::optional<std::string> local_end(const addrinfo& remote) {
  const Descriptor socket(::socket(remote.ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.open()) return std::nullopt;
  sockaddr_storage local = {};
  socklen_t size = sizeof(local);
  const bool known = ::connect(socket.get(), remote.ai_addr, remote.ai_addrlen) == 0 &&
                     ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&local), &size) == 0;
  std::array<char, NI_MAXHOST> text = {};
  if (!known || ::getnameinfo(reinterpret_cast<sockaddr*>(&local), size, text.data(), text.size(),
                              nullptr, 0, NI_NUMERICHOST) != 0)
    return std::nullopt;
  return std::string(text.data());
}

}  // namespace

std::string local_address_towards(const HostPort& host) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (const int code =
          ::getaddrinfo(host.host.c_str(), std::to_string(host.port).c_str(), &hints, &found);
      code != 0)
    throw UsageError("the host name '{}' has no address: {}", host.host, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  for (const addrinfo* remote = found; remote != nullptr; remote = remote->ai_next)
    if (auto address = local_end(*remote)) return *address;
  throw UsageError("no network of this machine reaches {}", to_text(host));
}

}  // namespace odb
