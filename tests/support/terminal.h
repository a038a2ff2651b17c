// A pseudo terminal: a process that has it as its own can be typed at, and loses it like one whose
// ssh connection breaks.
#pragma once

#include <string>

namespace odb {

class Terminal {
 public:
  // Fails the test when the system has none left.
  Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { hang_up(); }

  // In a forked child that leads no process group: it leads a session then, of which this is the
  // terminal, and has it as its three standard streams. Allocates nothing.
  void take() const;

  // As from the keyboard; "\x03" is Ctrl-C.
  void type(const std::string& keys) const;
  // All that was written to it so far. To be called now and then: a full terminal makes its writers
  // wait.
  const std::string& text();
  // The system sends SIGHUP to the leader and the processes in the foreground; later writes to the
  // terminal fail.
  void hang_up();

 private:
  int master_;
  std::string path_;
  std::string text_;
};

}  // namespace odb
