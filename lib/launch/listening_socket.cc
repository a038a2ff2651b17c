#include "launch/listening_socket.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "launch/launch_error.h"

namespace odb {

ListeningSocket listen_here() {
  ListeningSocket listening{Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), 0};
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  constexpr int kWaiting = 1024;
  if (!listening.socket.open() || ::bind(listening.socket.get(), any, size) != 0 ||
      ::listen(listening.socket.get(), kWaiting) != 0 ||
      ::getsockname(listening.socket.get(), any, &size) != 0)
    fail_launch("cannot listen on a port");
  listening.port = ntohs(address.sin_port);
  return listening;
}

}  // namespace odb
