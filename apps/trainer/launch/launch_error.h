// What the system refused to a launch.
#pragma once

#include <cerrno>

#include "base/error.h"

namespace odb {

// What it has just refused, with its reason (errno).
[[noreturn]] inline void fail_launch(const char* what) {
  throw FileError("launch: {}: {}", what, errno_text(errno));
}

}  // namespace odb
