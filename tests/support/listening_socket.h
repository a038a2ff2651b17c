// A socket on which a store is to be hosted, or that nobody answers at.
#pragma once

#include <cstdint>

namespace odb {

// Listens on a free port of loopback; who connects is not accepted. A value: whoever takes it over
// closes the descriptor.
struct ListeningSocket {
  ListeningSocket();

  int descriptor;
  std::uint16_t port = 0;
};

}  // namespace odb
