#include "terminal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "catch.h"

namespace odb {

Terminal::Terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)) {
  REQUIRE(master_ >= 0);
  REQUIRE(::grantpt(master_) == 0);
  REQUIRE(::unlockpt(master_) == 0);
  path_ = ::ptsname(master_);
}

void Terminal::take() const {
  ::setsid();
  const int terminal = ::open(path_.c_str(), O_RDWR);  // of the whole session, as its first
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::dup2(terminal, stream);
  if (terminal > STDERR_FILENO) ::close(terminal);
}

void Terminal::type(const std::string& keys) const {
  REQUIRE(::write(master_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
}

const std::string& Terminal::text() {
  char bytes[4096];
  for (ssize_t count; master_ >= 0 && (count = ::read(master_, bytes, sizeof bytes)) > 0;)
    text_.append(bytes, static_cast<std::size_t>(count));
  return text_;
}

void Terminal::hang_up() {
  text();
  if (master_ >= 0) ::close(std::exchange(master_, -1));
}

}  // namespace odb
