// The signals that `launch` passes on to its ranks, read one by one instead of handled.
#pragma once

#include <signal.h>

#include <optional>

#include "base/descriptor.h"

namespace odb {

// The stop signals that this process handles (base/signals.h) can be read during its lifetime. They
// stay blocked after it: one that comes when the last rank has ended must not change the exit code
// of this process.
class PassedSignals {
 public:
  // FileError: the system has no descriptor for them.
  PassedSignals();
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;

  // In a forked child: restores the signals, which an exec would otherwise keep blocked.
  void give_back() const;
  // Readable when a signal has arrived.
  int descriptor() const { return descriptor_.get(); }
  // The next signal that has arrived; none: there is none. Never blocks.
  std::optional<int> next() const;

 private:
  sigset_t before_ = {};
  Descriptor descriptor_;
};

}  // namespace odb
