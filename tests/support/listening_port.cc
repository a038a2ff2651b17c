#include "listening_port.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "catch.h"

namespace odb {

ListeningPort::ListeningPort() : descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in local = {};
  local.sin_family = AF_INET;
  local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(local);
  auto* const any = reinterpret_cast<sockaddr*>(&local);
  REQUIRE(::bind(descriptor, any, size) == 0);
  REQUIRE(::listen(descriptor, 64) == 0);
  REQUIRE(::getsockname(descriptor, any, &size) == 0);
  port = ntohs(local.sin_port);
}

}  // namespace odb
