// What a rank hands to the `odb-trainer launch` that started it, through descriptors that it
// inherits: its phase while it lives, and the message with which it ends. So that the launch can
// tell what a killed rank was doing, and what several ranks say alike but once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace odb {

// By `launch` to its ranks: the number of a file in memory, and of a pipe's end.
inline constexpr const char* kPhaseVariable = "ODB_PHASE";
inline constexpr const char* kLastWordsVariable = "ODB_LAST_WORDS";

// A phase is cut there; shorter ones end with a zero byte.
inline constexpr std::size_t kMostPhaseBytes = 255;

// Where this rank tells what it is doing; nowhere, when nobody asked for it.
class PhaseChannel {
 public:
  // Looks into the environment, once: to be made where no other thread changes that meanwhile.
  PhaseChannel();

  // In the place of what was told before. Never blocks; any thread.
  void tell(const std::string& phase) const;

 private:
  std::optional<int> file_;
};

// The end of what a rank says that ends for another's failure and does not know the reason: where
// that other's message is there, its launch tells that alone.
inline constexpr const char* kToldByThatRank = "its own message tells why";

// Why this process ends, without a line feed. False: nobody asked for it, say it yourself.
bool give_last_words(const std::string& text);

}  // namespace odb
