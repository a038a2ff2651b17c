// How often a wait looks at its conditions by itself: a stop, a lost peer, a time limit.
#pragma once

#include <chrono>

namespace odb {

inline constexpr std::chrono::milliseconds kPollInterval{100};

}  // namespace odb
