// A socket that listens on loopback, on a port that the system chose: rank 0 inherits it and hosts
// its store there, so that no other program can take the port meanwhile.
#pragma once

#include "base/descriptor.h"

namespace odb {

struct ListeningSocket {
  Descriptor socket;
  int port = 0;
};

// FileError: no socket or port is available.
ListeningSocket listen_here();

}  // namespace odb
