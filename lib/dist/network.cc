#include "dist/network.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>

#include <net/if.h>

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

std::string numeric(const sockaddr* address) {
  const socklen_t size = address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  std::array<char, NI_MAXHOST> text = {};
  return ::getnameinfo(address, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) == 0
             ? text.data()
             : "";
}

constexpr int kSocketFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

bool listens(int socket, const sockaddr* address, socklen_t size) {
  return socket >= 0 && ::bind(socket, address, size) == 0 && ::listen(socket, SOMAXCONN) == 0;
}

Descriptor listen_anywhere() {
  Descriptor socket(::socket(AF_INET6, kSocketFlags, 0));
  const int no = 0;
  if (socket.open()) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
  sockaddr_in6 any = {};
  any.sin6_family = AF_INET6;
  if (listens(socket.get(), reinterpret_cast<sockaddr*>(&any), sizeof(any))) return socket;
  socket = Descriptor(::socket(AF_INET, kSocketFlags, 0));
  sockaddr_in any_of_ipv4 = {};
  any_of_ipv4.sin_family = AF_INET;
  ODB_CHECK(listens(socket.get(), reinterpret_cast<sockaddr*>(&any_of_ipv4), sizeof(any_of_ipv4)),
            "no socket to listen on: {}", errno_text(errno));
  return socket;
}

}  // namespace

std::string address_of_network(const std::string& network) {
  if (::if_nametoindex(network.c_str()) == 0) return network;
  ifaddrs* found = nullptr;
  ODB_CHECK(::getifaddrs(&found) == 0, "cannot list the interfaces: {}", errno_text(errno));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(found, &::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* entry = found; entry != nullptr; entry = entry->ifa_next)
      if (entry->ifa_addr != nullptr && entry->ifa_addr->sa_family == family &&
          entry->ifa_name == network)
        return numeric(entry->ifa_addr);
  throw UsageError("--network {}: this interface has no address; expected one that is up", network);
}

Descriptor listen_on(const std::string& address) {
  if (address.empty()) return listen_anywhere();
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code = ::getaddrinfo(address.c_str(), "0", &hints, &found); code != 0)
    throw UsageError("--network {}: {}; expected an interface or an address of this machine",
                     address, ::gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  int fault = 0;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Descriptor socket(::socket(one->ai_family, kSocketFlags, 0));
    if (listens(socket.get(), one->ai_addr, one->ai_addrlen)) return socket;
    fault = errno;
  }
  throw UsageError("--network {}: {}; expected an interface or an address of this machine", address,
                   errno_text(fault));
}

std::uint16_t port_of(int socket) {
  sockaddr_storage local = {};
  socklen_t size = sizeof(local);
  ODB_CHECK(::getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size) == 0, "{}",
            errno_text(errno));
  return ntohs(local.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(local).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(local).sin_port);
}

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
