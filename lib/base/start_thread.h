// Starts threads: they never handle stop signals, and a system that permits no further thread is
// reported as such.
#pragma once

#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/signals.h"

namespace odb {

// The FileError for `error` if it says that the system permits no further thread (of this user, or
// of this container); nothing otherwise.
std::optional<FileError> thread_refusal(const std::exception& error);

// A running thread that blocks the stop signals. FileError: the system permits none.
template <typename Body>
std::thread start_thread(Body body) {
  const ScopedSignalBlock block;
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    if (const auto refusal = thread_refusal(error)) throw FileError(*refusal);
    throw;
  }
}

}  // namespace odb
