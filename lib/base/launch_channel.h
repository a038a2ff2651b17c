// What a rank hands to the `odb-trainer launch` that started it, through inherited descriptors: its
// phase while it runs, and its final error. So the launch can report what a killed rank was doing,
// and print an error that several ranks share only once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/failure.h"

namespace odb {

// Set by `launch` for its ranks: descriptor numbers of a file in memory and of a pipe's write end.
inline constexpr const char* kPhaseVariable = "ODB_PHASE";
inline constexpr const char* kFinalErrorVariable = "ODB_FINAL_ERROR_FD";

// Set by `odb-trainer launch` for its rank 0: the number of a socket that listens at MASTER_PORT.
inline constexpr const char* kListeningSocketVariable = "ODB_LISTENING_SOCKET";

// Longer phases are cut; shorter ones end with a zero byte.
inline constexpr std::size_t kMaxPhaseBytes = 255;

// Where this rank publishes its phase. Does nothing when no launch started it.
class PhaseChannel {
 public:
  // Reads the environment, once: construct it while no other thread changes the environment.
  PhaseChannel();

  // Replaces the phase. Never blocks; any thread.
  void publish(const std::string& phase) const;

 private:
  std::optional<int> file_;
};

// Sends why this process ends. Never blocks. False: no launch started it, so the caller prints the
// message.
bool report_final_error(const Failure& failure);
// By the launch, once the process has ended: what it sent; nothing, if it sent nothing.
std::optional<Failure> take_final_error(int pipe);

}  // namespace odb
