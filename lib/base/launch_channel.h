// What a rank hands to the `odb-trainer launch` that started it, through descriptors that it
// inherits: its phase while it lives, and the message with which it ends. So that the launch can
// tell what a killed rank was doing, and what several ranks say alike but once.
#pragma once

#include <cstddef>
#include <string>

namespace odb {

// By `launch` to its ranks: the number of a file in memory, and of a pipe's end.
inline constexpr const char* kPhaseVariable = "ODB_PHASE";
inline constexpr const char* kLastWordsVariable = "ODB_LAST_WORDS";

// A phase is cut there; shorter ones end with a zero byte.
inline constexpr std::size_t kMostPhaseBytes = 255;

// What this rank is doing, in the place of what it told before. Nothing where nobody asked for it.
// Never blocks; any thread.
void tell_phase(const std::string& phase);

// The end of what a rank says that ends for another's failure and does not know the reason: where
// that other's message is there, its launch tells that alone.
inline constexpr const char* kToldByThatRank = "its own message tells why";

// Why this process ends, without a line feed. False: nobody asked for it, say it yourself.
bool give_last_words(const std::string& text);

}  // namespace odb
