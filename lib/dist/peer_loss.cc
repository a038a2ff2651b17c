#include "dist/peer_loss.h"

#include <string_view>

#include <c10/util/Exception.h>

#include "base/error.h"
#include "dist/gloo_process_group.h"

namespace odb {
namespace {

// The first sentence, without the place in the source ("[/pytorch/.../pair.cc:547] ") and the stack
// frames.
std::string_view gist(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  if (text.starts_with('[')) {
    const std::size_t end = text.find("] ");
    if (end != std::string_view::npos) text.remove_prefix(end + 2);
  }
  return text.substr(0, text.find(". "));
}

[[noreturn]] void throw_peer_loss(const char* what, std::string_view text) {
  throw PeerLostError("another rank was lost in {}: {}; see the log of the rank that ended first",
                      what, gist(text));
}

}  // namespace

void detail::rethrow_as_peer_loss(const char* what) {
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const c10::DistError& error) {  // NCCL, or the store
    throw_peer_loss(what, error.what_without_backtrace());
  } catch (const std::exception& error) {
    if (is_gloo_fault(error)) throw_peer_loss(what, error.what());
    throw;
  }
}

}  // namespace odb
