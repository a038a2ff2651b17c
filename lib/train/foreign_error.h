// An exception of LibTorch or the standard library as one of our kinds, so that a run can record it
// and tell the other ranks what it was.
#pragma once

#include <exception>
#include <string>

#include "base/error.h"

namespace odb {

// `where`: the device, `doing`: the run's phase, for the message. Memory that could not be had
// becomes exit code 2, for options decide how much is wanted; all else is exit code 70. LibTorch's
// backtraces are left out. `error` is no Error, which has its kind.
Error named_error(const std::exception& error, const std::string& where, const std::string& doing);

}  // namespace odb
