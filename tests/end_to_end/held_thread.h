// Keeps the main thread of another process from running while its other threads run on: a trainer
// that comes to no further step, but whose store and heartbeat still answer. SIGSTOP would stop all
// of them.
#pragma once

#include <sys/types.h>

namespace odb {

class HeldThread {
 public:
  // By ptrace, so the process must be a descendant of this one (or this one privileged). Returns
  // once the thread has stopped. Does nothing when the process has ended.
  explicit HeldThread(pid_t process);
  HeldThread(const HeldThread&) = delete;
  HeldThread& operator=(const HeldThread&) = delete;
  // Lets it run on. By the same thread of the test as the constructor.
  ~HeldThread();

  bool held() const { return process_ != 0; }

 private:
  pid_t process_;
  int signal_ = 0;  // was about to be delivered
};

}  // namespace odb
