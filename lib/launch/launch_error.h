// Errors of system calls during a launch.
#pragma once

#include <cerrno>

#include "base/error.h"

namespace odb {

// Throws the FileError of the call that has just failed, with its reason (errno).
[[noreturn]] inline void fail_launch(const char* what) {
  throw FileError("launch: {}: {}", what, errno_text(errno));
}

}  // namespace odb
