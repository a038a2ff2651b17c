#include "launch/passed_signals.h"

#include <sys/signalfd.h>

#include "base/signals.h"
#include "launch/launch_error.h"

namespace odb {

PassedSignals::PassedSignals() {
  // A signal that is ignored would be read all the same once it is blocked.
  const sigset_t passed = handled_stop_signals();
  ::sigprocmask(SIG_BLOCK, &passed, &before_);
  descriptor_ = Descriptor(::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_.open()) fail_launch("cannot create a signal descriptor");
}

void PassedSignals::give_back() const {
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> PassedSignals::next() const {
  signalfd_siginfo info = {};
  if (::read(descriptor_.get(), &info, sizeof info) != sizeof info) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

}  // namespace odb
