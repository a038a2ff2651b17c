// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"

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
  int get() const { return number_; }
  bool open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// What the system has just refused, with its reason.
[[noreturn]] inline void fail_launch(const char* what) {
  throw FileError("launch: {}: {}", what, errno_text(errno));
}

}  // namespace odb
