// The address of this machine by which other ranks reach it.
#pragma once

#include <string>

#include "dist/store.h"

namespace odb {

// The source address of packets from this machine to `host`; other ranks can reach what `host` can
// reach. Reads the routing table, sends nothing. UsageError: the name has no address, or there is
// no route to it.
std::string local_address_towards(const HostPort& host);

}  // namespace odb
