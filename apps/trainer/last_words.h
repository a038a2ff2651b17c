// The message with which a rank ends, handed to the `launch` that started it, which prints what
// several ranks say alike but once.
#pragma once

#include <string>

namespace odb {

// By `launch` to its ranks: the number of a pipe's end.
inline constexpr const char* kLastWordsVariable = "ODB_LAST_WORDS";

// False: nobody asked for them.
bool give_last_words(const std::string& text);

}  // namespace odb
