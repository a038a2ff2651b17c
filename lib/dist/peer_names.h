// Keeps name servers out of the store, by standing before the C library's getnameinfo().
//
// Why: whoever hosts or joins LibTorch's TCPStore has the host name of the other end looked up, for
// log lines, whether they are written or not (2.13 and 2.14: formatSockAddr() in c10d/socket.cpp,
// from UvTcpSocket::startRead() of the libuv store and from every SocketImpl of the other). The one
// thread that serves all ranks does it for each connection: where the name server is slow or away,
// each stops the store for five seconds or more. TCPStoreOptions has no word on it, and a socket
// that is handed in (masterListenFd) is asked about like any other.
//
// What: the linker finds this definition before the C library's, for LibTorch too. It is a
// pass-through until name_peers_by_number().
//
// When it may go: once formatSockAddr() asks with NI_NUMERICHOST, or is called for written lines
// alone; at the latest when `nm -D libtorch_cpu.so` lists getnameinfo no more.
#pragma once

namespace odb {

// From now on getnameinfo() of this process gives addresses as numbers and asks nobody. Host names
// are still looked up by getaddrinfo().
void name_peers_by_number();

}  // namespace odb
