// The address of this machine by which other ranks reach it.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "dist/store.h"

namespace odb {

// The source address of packets from this machine to `host`; other ranks can reach what `host` can
// reach. Reads the routing table, sends nothing. UsageError: the name has no address, or there is
// no route to it.
std::string local_address_towards(const HostPort& host);

// The numeric address of `network`: the name of an interface (its IPv4 address, if it has one), or
// a host name or address, which is returned as it is. UsageError: an interface without an address.
std::string address_of_network(const std::string& network);

// A socket that listens there, on a free port; empty: on all addresses, of IPv6 as well where the
// machine has it. Not blocking. InternalError: the system has no socket left. UsageError: the
// address is not one of this machine.
Descriptor listen_on(const std::string& address);
// The port of a bound socket.
std::uint16_t port_of(int socket);

}  // namespace odb
