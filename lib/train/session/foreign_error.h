// Converts an exception of LibTorch or the standard library to one of our error kinds, so that a
// run can record it and report it to the other ranks.
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace odb {

// `where`: the device, `doing`: the run's phase, both for the message. Out of memory becomes exit
// code 2, because options decide how much is needed; everything else is exit code 70. LibTorch's
// backtraces are left out. `error` must not be an Error, which has its own kind.
Error named_error(const std::exception& error, const std::string& where, const std::string& doing);

}  // namespace odb
