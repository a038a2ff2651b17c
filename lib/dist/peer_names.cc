#include "dist/peer_names.h"

#include <dlfcn.h>
#include <netdb.h>
#include <sys/socket.h>

#include <atomic>

namespace {

std::atomic<bool> by_number = false;

}  // namespace

extern "C" __attribute__((visibility("default"))) int getnameinfo(
    const sockaddr* address, socklen_t size, char* host, socklen_t host_size, char* service,
    socklen_t service_size, int flags) {
  static const auto original =
      reinterpret_cast<decltype(&::getnameinfo)>(dlsym(RTLD_NEXT, "getnameinfo"));
  if (by_number) flags |= NI_NUMERICHOST | NI_NUMERICSERV;
  return original(address, size, host, host_size, service, service_size, flags);
}

namespace odb {

void name_peers_by_number() {
  by_number = true;
}

}  // namespace odb
