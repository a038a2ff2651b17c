// Keeps name servers out of the store, by replacing the C library's getnameinfo().
//
// Why: whoever hosts or joins LibTorch's TCPStore has the host name of the other end looked up, for
// log lines, whether they are written or not (2.13 and 2.14: formatSockAddr() in c10d/socket.cpp,
// from UvTcpSocket::startRead() of the libuv store and from every SocketImpl of the other). The one
// thread that serves all ranks does it for each connection: where the name server is slow or does
// not answer, each stops the store for five seconds or more. TCPStoreOptions has no option for it,
// and a socket that is passed in (masterListenFd) is looked up like any other.
//
// What: the linker finds this definition before the C library's, for LibTorch too. It is a
// pass-through until name_peers_by_number().
//
// When it may go: once formatSockAddr() uses NI_NUMERICHOST, or is called only for lines that are
// written; at the latest when `nm -D libtorch_cpu.so` lists no getnameinfo.
#pragma once

namespace odb {

// From now on getnameinfo() of this process gives addresses as numbers, without a lookup. Host
// names are still looked up by getaddrinfo().
void name_peers_by_number();

}  // namespace odb
