// Keeps name servers out of the store. LibTorch's store asks for the host name of everyone who
// connects, only to log it, in the one thread that serves all: where the name server is slow or
// away, each connection stops the store for five seconds or more.
#pragma once

namespace odb {

// From now on getnameinfo() of this process gives addresses as numbers and asks nobody. Host names
// are still looked up by getaddrinfo().
void name_peers_by_number();

}  // namespace odb
