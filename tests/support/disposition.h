// What this process does with a signal, for a while; processes started meanwhile inherit it where
// the signal is ignored.
#pragma once

#include <signal.h>

namespace odb {

class ScopedDisposition {
 public:
  using Handler = void (*)(int);

  // SIG_IGN or SIG_DFL, which is what a process started from a shell has.
  ScopedDisposition(int signal_number, Handler handler)
      : signal_number_(signal_number), before_(::signal(signal_number, handler)) {}
  ScopedDisposition(const ScopedDisposition&) = delete;
  ScopedDisposition& operator=(const ScopedDisposition&) = delete;
  ~ScopedDisposition() { ::signal(signal_number_, before_); }

 private:
  int signal_number_;
  Handler before_;
};

}  // namespace odb
