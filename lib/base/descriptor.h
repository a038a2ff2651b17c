// A file descriptor that is closed with its owner.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace odb {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }  // -1: none
  bool open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Opens /dev/null in place of standard input, output or error where they are closed: a file that is
// opened later would get that number, and every line printed there would go into it. To be called
// first in main.
inline void open_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number)
    if (::fcntl(number, F_GETFD) < 0) (void)!::open("/dev/null", O_RDWR);  // the lowest free number
}

}  // namespace odb
