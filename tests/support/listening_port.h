// A listening socket: to host a store on, or to connect to without an answer.
#pragma once

#include <cstdint>

namespace odb {

// Listens on a free port of loopback; connections are not accepted. A value: whoever takes it over
// closes the descriptor.
struct ListeningPort {
  ListeningPort();

  int descriptor;
  std::uint16_t port = 0;
};

}  // namespace odb
