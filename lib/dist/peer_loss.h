// One place where LibTorch's and Gloo's exceptions of a collective become PeerLostError.
#pragma once

#include <exception>
#include <utility>

namespace odb {

namespace detail {
// Throws PeerLostError when the exception in flight reports a broken connection or a store that is
// gone; otherwise rethrows it unchanged. `what`: "averaging gradients".
[[noreturn]] void rethrow_as_peer_loss(const char* what);
}  // namespace detail

// Runs `call`, which takes part in a collective (a wait for its work, or a backward pass that
// reduces), and returns its value. A peer whose connection broke becomes PeerLostError; Errors of
// this project and faults unrelated to peers (a wrong shape, no memory) pass unchanged.
template <typename Call>
auto as_peer_loss(const char* what, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (...) {
    detail::rethrow_as_peer_loss(what);
  }
}
template <typename Call>
auto as_peer_loss(Call&& call) {
  return as_peer_loss("a collective", std::forward<Call>(call));
}

}  // namespace odb
